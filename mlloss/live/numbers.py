"""How numbers are written on a page; live-figure.js writes them alike."""

from __future__ import annotations

import math

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_number(value: float, digits: int) -> str:
    """`value` as the page shows it: `digits` decimals, or three figures and a power of ten if clearer.

    What is smaller than 1e-15 is the rounding of a sum, and shown as zero.

    >>> format_number(-0.25, 3), format_number(4.5393e-05, 3), format_number(float("inf"), 3)
    ('−0.250', '4.54 × 10⁻⁵', '∞')
    """
    if not math.isfinite(value):
        return "undefined" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if abs(value) < 1e-15:
        value = 0.0
    if value != 0 and not 10.0**-digits <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}".replace("-", "−")
    return f"{value:.{digits}f}".replace("-", "−")
