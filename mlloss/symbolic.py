"""Every loss of the book, written down once as mathematics (SymPy).

This module is the reference: the chapters show the derivatives of these expressions, the live figures draw
them, and the tests hold `mlloss.functional` against them at 50 digits.

Three functions are enough to write all the losses in a form that is exact *and* stable: `sigmoid`, `softplus`
and `logsumexp`. They differentiate into one another, and `.rewrite(exp)` spells them out as exponentials and
logarithms:

>>> from sympy import exp, symbols
>>> z = symbols("z", real=True)
>>> softplus(z).diff(z)
sigmoid(z)
>>> softplus(z).rewrite(exp)
log(exp(z) + 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import mpmath
from sympy import Expr, Function, IndexedBase, Max, Min, S, Sum, Symbol, exp, lambdify, log, symbols, sympify

__all__ = [
    "binary_cross_entropy",
    "circle_loss",
    "cross_entropy",
    "evaluate",
    "hard_cross_entropy",
    "hard_thresholded_loss",
    "hard_unified_loss",
    "indexed_sides",
    "logits",
    "logsumexp",
    "multilabel_softmax_cross_entropy",
    "relu",
    "sigmoid",
    "sigmoid_focal_loss",
    "softmax",
    "softmax_focal_loss",
    "softplus",
    "squared_error",
    "thresholded_loss",
    "unified_loss",
]

Number: TypeAlias = "Expr | float"


class sigmoid(Function):
    """σ(x) = 1 / (1 + e⁻ˣ)."""

    nargs = 1
    is_positive = True
    is_finite = True

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        if x is S.NegativeInfinity:
            return S.Zero
        if x is S.Infinity:
            return S.One
        return S.Half if x.is_zero else None

    def fdiff(self, argindex: int = 1) -> Expr:
        (x,) = self.args
        return sigmoid(x) * sigmoid(-x)

    def _eval_rewrite_as_exp(self, x: Expr, **hints: Any) -> Expr:
        return 1 / (1 + exp(-x))

    def _eval_evalf(self, prec: int) -> Expr:
        return self.rewrite(exp)._eval_evalf(prec)

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        power = f"^{{{exp}}}" if exp else ""
        return rf"\sigma{power}\left({printer.doprint(self.args[0])}\right)"


class softplus(Function):
    """softplus(x) = log(1 + eˣ)."""

    nargs = 1
    is_extended_real = True

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        if x is S.NegativeInfinity:
            return S.Zero
        if x is S.Infinity:
            return S.Infinity
        return log(2) if x.is_zero else None

    def fdiff(self, argindex: int = 1) -> Expr:
        return sigmoid(self.args[0])

    def _eval_rewrite_as_exp(self, x: Expr, **hints: Any) -> Expr:
        return log(1 + exp(x))

    def _eval_evalf(self, prec: int) -> Expr:
        return self.rewrite(exp)._eval_evalf(prec)

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        power = f"^{{{exp}}}" if exp else ""
        return rf"\operatorname{{softplus}}{power}\left({printer.doprint(self.args[0])}\right)"


class logsumexp(Function):
    """LSE(x₁, …, xₙ) = log Σᵢ exp(xᵢ); of nothing at all it is −∞."""

    is_extended_real = True

    @classmethod
    def eval(cls, *x: Expr) -> Expr | None:
        finite = [xi for xi in x if xi is not S.NegativeInfinity]
        if not finite:
            return S.NegativeInfinity
        if len(finite) == 1:
            return finite[0]
        return cls(*finite) if len(finite) < len(x) else None

    def fdiff(self, argindex: int = 1) -> Expr:
        return exp(self.args[argindex - 1] - self)

    def _eval_rewrite_as_exp(self, *x: Expr, **hints: Any) -> Expr:
        return log(sum(exp(xi) for xi in x))

    def _eval_evalf(self, prec: int) -> Expr:
        return self.rewrite(exp)._eval_evalf(prec)

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        power = f"^{{{exp}}}" if exp else ""
        arguments = ", ".join(printer.doprint(x) for x in self.args)
        return rf"\operatorname{{LSE}}{power}\left({arguments}\right)"


def relu(x: Expr) -> Expr:
    """[x]₊ = max(0, x)."""
    return Max(0, x)


def logits(count: int, name: str = "s") -> tuple[Symbol, ...]:
    """`count` real symbols s1, s2, …

    >>> logits(3)
    (s1, s2, s3)
    """
    return symbols(f"{name}1:{count + 1}", real=True)


def softmax(s: Sequence[Expr]) -> list[Expr]:
    """pᵢ = exp(sᵢ − LSE(s))."""
    return [exp(si - logsumexp(*s)) for si in s]


def squared_error(z: Expr, y: Number) -> Expr:
    """½ (y − σ(z))²."""
    return (y - sigmoid(z)) ** 2 / 2


def binary_cross_entropy(z: Expr, y: Number) -> Expr:
    """y softplus(−z) + (1 − y) softplus(z), which is −y log σ(z) − (1 − y) log(1 − σ(z))."""
    return y * softplus(-z) + (1 - y) * softplus(z)


def sigmoid_focal_loss(z: Expr, y: Number, alpha: Number | None = None, gamma: Number = 2) -> Expr:
    """α_t (1 − p_t)^γ (−log p_t) for a target y of 0 or 1 (Lin et al. 2017, eq. 5)."""
    positive, negative = sigmoid(-z) ** gamma * softplus(-z), sigmoid(z) ** gamma * softplus(z)
    if alpha is not None:
        positive, negative = alpha * positive, (1 - alpha) * negative
    return y * positive + (1 - y) * negative


def cross_entropy(s: Sequence[Expr], label: int) -> Expr:
    """log Σⱼ exp(sⱼ − s_y), which is −log softmax(s)_y."""
    return logsumexp(*[sj - s[label] for sj in s])


def hard_cross_entropy(s: Sequence[Expr], label: int) -> Expr:
    """[max_{j≠y} sⱼ − s_y]₊: cross-entropy with the soft maximum replaced by the maximum."""
    return Max(*[sj - s[label] for sj in s])


def softmax_focal_loss(s: Sequence[Expr], label: int, alpha: Number = 1, gamma: Number = 2) -> Expr:
    """α_y (1 − p_y)^γ (−log p_y); 1 − p_y is the sum of the other probabilities."""
    others = logsumexp(*[sj for j, sj in enumerate(s) if j != label])
    return alpha * exp(gamma * (others - logsumexp(*s))) * cross_entropy(s, label)


def unified_loss(
    negatives: Sequence[Expr], positives: Sequence[Expr], gamma: Number = 1, margin: Number = 0
) -> Expr:
    """log(1 + Σₙ Σₚ exp γ(sₙ − sₚ + m)) (Sun et al. 2020, eq. 1), factored into two log-sum-exps."""
    return softplus(
        logsumexp(*[gamma * (sn + margin) for sn in negatives])
        + logsumexp(*[-gamma * sp for sp in positives])
    )


def hard_unified_loss(negatives: Sequence[Expr], positives: Sequence[Expr], margin: Number = 0) -> Expr:
    """[max sₙ − min sₚ + m]₊."""
    return relu(Max(*negatives) - Min(*positives) + margin)


def thresholded_loss(negatives: Sequence[Expr], positives: Sequence[Expr], threshold: Number = 0) -> Expr:
    """log(eᵗ + Σₙ exp sₙ) + log(e⁻ᵗ + Σₚ exp(−sₚ)), each side as a softplus (t = 0: Su et al. 2022)."""
    below = softplus(logsumexp(*negatives) - threshold)
    above = softplus(threshold + logsumexp(*[-sp for sp in positives]))
    return below + above


def hard_thresholded_loss(
    negatives: Sequence[Expr], positives: Sequence[Expr], threshold: Number = 0
) -> Expr:
    """[max sₙ − t]₊ + [t − min sₚ]₊."""
    return relu(Max(*negatives) - threshold) + relu(threshold - Min(*positives))


def circle_loss(
    negatives: Sequence[Expr],
    positives: Sequence[Expr],
    gamma: Number = 256,
    margin: Number = S.Half / 2,
    negative_weights: Sequence[Number] | None = None,
    positive_weights: Sequence[Number] | None = None,
) -> Expr:
    """log(1 + Σₙ exp γ αₙ(sₙ − m) Σₚ exp(−γ αₚ(sₚ − 1 + m))) (Sun et al. 2020).

    The weights are αₙ = [sₙ + m]₊ and αₚ = [1 + m − sₚ]₊ unless given; symbols in their place are constants
    to `diff`, as the paper has it.
    """
    alpha_n = negative_weights or [relu(sn + margin) for sn in negatives]
    alpha_p = positive_weights or [relu(1 + margin - sp) for sp in positives]
    return softplus(
        logsumexp(*[gamma * a * (sn - margin) for a, sn in zip(alpha_n, negatives, strict=True)])
        + logsumexp(*[-gamma * a * (sp - 1 + margin) for a, sp in zip(alpha_p, positives, strict=True)])
    )


def multilabel_softmax_cross_entropy(
    negatives: Sequence[Expr], positives: Sequence[Expr], normalize: bool = True
) -> Expr:
    """−Σₚ log softmax(s)ₚ, divided by the number of positives if `normalize`; 0 without positives."""
    if not positives:
        return S.Zero
    total = logsumexp(*negatives, *positives)
    loss = sum(total - sp for sp in positives)
    return loss / len(positives) if normalize else loss


def indexed_sides(gamma: Number = 1, margin: Number = 0) -> tuple[Expr, Expr]:
    """log Σₙ exp γ(sₙ + m) and log Σₚ exp(−γ sₚ) for any number of classes, as sums over an index.

    >>> n, p = indexed_sides()
    >>> n
    log(Sum(exp(s^N[i]), (i, 1, |N|)))
    >>> n.diff(IndexedBase("s^N")[1]).subs(symbols("|N|", positive=True, integer=True), 2).doit()
    exp(s^N[1])/(exp(s^N[1]) + exp(s^N[2]))
    """
    i = symbols("i", integer=True)
    count_n, count_p = symbols("|N| |P|", positive=True, integer=True)
    s_n, s_p = IndexedBase("s^N"), IndexedBase("s^P")
    return (
        log(Sum(exp(gamma * (s_n[i] + margin)), (i, 1, count_n))),
        log(Sum(exp(-gamma * s_p[i]), (i, 1, count_p))),
    )


def _logsumexp(*x: Any) -> mpmath.mpf:
    largest, *others = sorted((mpmath.mpf(xi) for xi in x), reverse=True)
    if mpmath.isinf(largest):
        return largest
    return largest + mpmath.log1p(mpmath.fsum(mpmath.exp(xi - largest) for xi in others))


_MPMATH = {
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "softplus": lambda x: _logsumexp(0, x),
    "logsumexp": _logsumexp,
}


@lru_cache(maxsize=512)
def _compiled(expression: Expr, arguments: tuple[Symbol, ...]) -> Any:
    return lambdify(arguments, expression, modules=[_MPMATH, "mpmath"])


def evaluate(expression: Expr, values: Mapping[Symbol, Any], digits: int = 50) -> mpmath.mpf:
    """The number that `expression` has at `values`, correct to `digits` digits.

    >>> z = symbols("z")
    >>> print(mpmath.nstr(evaluate(softplus(z), {z: -1000}), 5))
    5.076e-435
    """
    expression = sympify(expression)
    arguments = tuple(sorted(values, key=str))
    with mpmath.workdps(digits + 15):
        result = _compiled(expression, arguments)(*(mpmath.mpf(values[a]) for a in arguments))
    with mpmath.workdps(digits):
        return +mpmath.mpf(result)
