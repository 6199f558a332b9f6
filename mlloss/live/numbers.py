"""How numbers are written on a page; live-figure.js writes them alike."""

from __future__ import annotations

import math

TICKS = 4  # steps between the ends of an axis that follows
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


def round_up(value: float) -> float:
    """The next of 1, 2, 4 and 8 times a power of ten, which an axis in four steps ends at.

    >>> round_up(3), round_up(8.1), round_up(0.3)
    (4.0, 10.0, 0.4)
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 8, 10) if step * power >= value)


def format_tick(value: float) -> str:
    """A number along an axis that follows."""
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}")
