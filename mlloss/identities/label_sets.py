"""The equations of the chapter "From scores to label sets".

Statements about sets are tried on every pair of sets of up to four labels, in exact fractions, and against
`mlloss`; statements about chances on random joint distributions with exact fractions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product

import torch
from sympy import diff, log, simplify, symbols

import mlloss
from mlloss.identities.registry import assert_equal, check
from mlloss.symbolic import evaluate, sigmoid

Labels = frozenset[int]
EVERY_PAIR = "every pair of sets of up to 4 labels, exact fractions"
RANDOM_CHANCES = "random joint distributions of up to 4 labels, exact fractions"
RANDOM_SCORES = "random scores, many of them tied"


def subsets(count: int) -> list[Labels]:
    """All sets of the labels 0, …, count − 1."""
    return [frozenset(c) for size in range(count + 1) for c in combinations(range(count), size)]


def pairs() -> Iterator[tuple[int, Labels, Labels]]:
    """The number of labels, the true set Y, and the predicted set Z."""
    for count in range(1, 5):
        yield from product([count], subsets(count), subsets(count))


def as_row(labels: Labels, count: int) -> torch.Tensor:
    return torch.tensor([i in labels for i in range(count)])


def of_mlloss(measure: Callable[..., torch.Tensor], count: int, y: Labels, z: Labels) -> float:
    return float(measure(as_row(z, count), as_row(y, count)))


def counts(y: Labels, z: Labels) -> tuple[int, int, int]:
    """Hits, misses and false alarms, one label at a time."""
    members = [(i in y, i in z) for i in y | z]
    return members.count((True, True)), members.count((True, False)), members.count((False, True))


def ratio(part: int, whole: int) -> Fraction:
    """part / whole, and 0 for 0 / 0."""
    return Fraction(part, whole) if whole else Fraction(0)


def jaccard_of(y: Labels, z: Labels) -> Fraction:
    return Fraction(1) if y == z else ratio(len(y & z), len(y | z))


def f1_of(y: Labels, z: Labels) -> Fraction:
    return Fraction(1) if y == z else ratio(2 * len(y & z), len(y) + len(z))


def same(left: float, right: Fraction | int) -> bool:
    return abs(left - right) < 1e-12


def tables(
    repeats: int = 20, samples: int = 6, labels: int = 4
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Random truths and predictions, some rows empty."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(repeats):
        shares = torch.rand(2, samples, 1, generator=generator)
        truth, predictions = torch.rand(2, samples, labels, generator=generator) < shares
        yield truth, predictions


def score_rows(repeats: int = 200) -> Iterator[tuple[list[int], Labels]]:
    """Random scores of two to five labels, whole numbers so that ties are common, and a true set."""
    generator = random.Random(0)
    for _ in range(repeats):
        count = generator.randint(2, 5)
        scores = [generator.randint(-2, 2) for _ in range(count)]
        yield scores, generator.choice(subsets(count))


def distributions(repeats: int = 20) -> Iterator[tuple[int, dict[Labels, Fraction]]]:
    """Random chances of every set of one to four labels."""
    generator = random.Random(0)
    for _ in range(repeats):
        for count in range(1, 5):
            weights = {y: generator.randint(0, 9) for y in subsets(count)}
            total = sum(weights.values())
            yield count, {y: Fraction(weight, total) for y, weight in weights.items()}


def chance_of(chances: dict[Labels, Fraction], having: Labels, lacking: Labels = frozenset()) -> Fraction:
    """The chance that all labels of one set are there and none of the other."""
    return sum((c for y, c in chances.items() if having <= y and not lacking & y), Fraction(0))


def marginals(count: int, chances: dict[Labels, Fraction]) -> list[Fraction]:
    return [chance_of(chances, frozenset({i})) for i in range(count)]


def wrong_labels(chances: dict[Labels, Fraction], z: Labels) -> Fraction:
    """The expected number of them, if z is predicted."""
    return sum((chance * len(y ^ z) for y, chance in chances.items()), Fraction(0))


# Cutting.


@check("threshold-set", RANDOM_SCORES)
def threshold_set() -> None:
    """The set of a threshold has the labels that score above it, and not those that score as high."""
    for scores, _ in score_rows():
        for t in (-3, -1, 0, 0.5, 2):
            row = mlloss.predict(torch.tensor(scores, dtype=torch.float64), t)
            assert set(row.nonzero()[:, 0].tolist()) == {i for i, s in enumerate(scores) if s > t}


@check("threshold-nested", RANDOM_SCORES)
def threshold_nested() -> None:
    """A higher threshold cuts out a subset, for every pair of thresholds between and on the scores."""
    for scores, _ in score_rows():
        cuts = [mlloss.predict(torch.tensor(scores, dtype=torch.float64), t / 2) for t in range(-6, 7)]
        assert all(not (high & ~low).any() for low, high in combinations(cuts, 2))


@check("threshold-logit", "SymPy, and 50 digits at random points")
def threshold_logit() -> None:
    """The sigmoid rises and takes the value q at log(q/(1 − q)), so both comparisons agree."""
    s, q = symbols("s q", positive=True)
    assert_equal(sigmoid(log(q / (1 - q))), q)
    assert diff(sigmoid(s), s).is_positive
    generator = random.Random(0)
    for _ in range(200):
        score, share = generator.uniform(-8, 8), generator.uniform(0.001, 0.999)
        assert (evaluate(sigmoid(s), {s: score}) > share) == (score > evaluate(log(q / (1 - q)), {q: share}))


# Measures of sets.


@check("set-counts", EVERY_PAIR)
def set_counts() -> None:
    """Hits, misses and false alarms add up to the sizes of both sets, their union and their difference."""
    for _, y, z in pairs():
        hits, misses, false_alarms = counts(y, z)
        assert len(y) == hits + misses
        assert len(z) == hits + false_alarms
        assert len(y | z) == hits + misses + false_alarms
        assert len(y ^ z) == misses + false_alarms


@check("exact-match", EVERY_PAIR)
def exact_match() -> None:
    """Sets are equal exactly when no label is in one of them alone; mlloss counts the same."""
    for count, y, z in pairs():
        assert (y == z) == (len(y ^ z) == 0)
        assert same(of_mlloss(mlloss.exact_match_ratio, count, y, z), int(y == z))


@check("hamming", EVERY_PAIR)
def hamming() -> None:
    """The share of wrong entries, label by label, is |Y △ Z|/C; mlloss computes the same."""
    for count, y, z in pairs():
        wrong = sum((i in y) != (i in z) for i in range(count))
        assert wrong == len(y ^ z)
        assert same(of_mlloss(mlloss.hamming_loss, count, y, z), Fraction(wrong, count))


@check("jaccard-index", EVERY_PAIR)
def jaccard_index() -> None:
    """The Jaccard index from the sets and from the counts, where not both sets are empty, and mlloss."""
    for count, y, z in pairs():
        hits, misses, false_alarms = counts(y, z)
        index = ratio(len(y & z), len(y | z))
        assert index == ratio(hits, hits + misses + false_alarms)
        assert same(of_mlloss(mlloss.jaccard, count, y, z), index)


@check("precision-recall", EVERY_PAIR)
def precision_recall() -> None:
    """Precision and recall from the sets and from the counts, and mlloss."""
    for count, y, z in pairs():
        hits, misses, false_alarms = counts(y, z)
        assert ratio(len(y & z), len(z)) == ratio(hits, hits + false_alarms)
        assert ratio(len(y & z), len(y)) == ratio(hits, hits + misses)
        assert same(of_mlloss(mlloss.precision, count, y, z), ratio(hits, hits + false_alarms))
        assert same(of_mlloss(mlloss.recall, count, y, z), ratio(hits, hits + misses))


@check("f1-of-a-sample", EVERY_PAIR)
def f1_of_a_sample() -> None:
    """F1 from the sizes is the harmonic mean of precision and recall where there is a hit, and mlloss's."""
    for count, y, z in pairs():
        f1 = ratio(2 * len(y & z), len(y) + len(z))
        p, r = ratio(len(y & z), len(z)), ratio(len(y & z), len(y))
        assert not y & z or f1 == 2 * p * r / (p + r)
        assert same(of_mlloss(mlloss.f1, count, y, z), f1)


# What holds between them.


@check("f1-of-jaccard", EVERY_PAIR)
def f1_of_jaccard() -> None:
    """F1 = 2J/(1 + J), and it rises with J."""
    for _, y, z in pairs():
        assert f1_of(y, z) == 2 * jaccard_of(y, z) / (1 + jaccard_of(y, z))
    j = symbols("j", positive=True)
    assert simplify(diff(2 * j / (1 + j), j) - 2 / (1 + j) ** 2) == 0


@check("measure-chain", EVERY_PAIR)
def measure_chain() -> None:
    """[Y = Z] ≤ J ≤ F1, with both equal only where J is 0 or 1."""
    for _, y, z in pairs():
        assert int(y == z) <= jaccard_of(y, z) <= f1_of(y, z)
        assert (jaccard_of(y, z) == f1_of(y, z)) == (jaccard_of(y, z) in (0, 1))


@check("f1-between", EVERY_PAIR)
def f1_between() -> None:
    """J ≤ min(P, R) ≤ F1 ≤ max(P, R), where neither set is empty."""
    for _, y, z in pairs():
        if y and z:
            p, r = Fraction(len(y & z), len(z)), Fraction(len(y & z), len(y))
            assert jaccard_of(y, z) <= min(p, r) <= f1_of(y, z) <= max(p, r)


@check("hamming-zero-one", EVERY_PAIR)
def hamming_zero_one() -> None:
    """[Y ≠ Z]/C ≤ |Y △ Z|/C ≤ [Y ≠ Z], and both ends are reached by sets that differ."""
    reached: set[str] = set()
    for count, y, z in pairs():
        share = Fraction(len(y ^ z), count)
        assert Fraction(int(y != z), count) <= share <= int(y != z)
        if count == 3 and y != z:
            reached |= {"low"} if share == Fraction(1, 3) else {"high"} if share == 1 else set()
    assert reached == {"low", "high"}


@check("hamming-density", "random tables of up to 6 samples")
def hamming_density() -> None:
    """Who predicts nothing has the share of positive entries as Hamming loss."""
    for truth, _ in tables():
        nothing = torch.zeros_like(truth)
        assert same(float(mlloss.hamming_loss(nothing, truth)), Fraction(int(truth.sum()), truth.numel()))


# Averages.


@check("micro-f1", "random tables of up to 6 samples, exact fractions")
def micro_f1() -> None:
    """Pooled counts, added up by label or by sample, give the F1 of the table read as one long row."""
    for truth, predictions in tables():
        for rows, columns in ((truth, predictions), (truth.T, predictions.T)):
            hits = sum(int((y & z).sum()) for y, z in zip(rows, columns, strict=True))
            errors = sum(int((y ^ z).sum()) for y, z in zip(rows, columns, strict=True))
            assert same(
                float(mlloss.f1(predictions.flatten(), truth.flatten())), ratio(2 * hits, 2 * hits + errors)
            )


@check("macro-f1", "random tables of up to 6 samples, exact fractions")
def macro_f1() -> None:
    """The mean of the labels' F1 is the F1 of the table with samples and labels exchanged."""
    for truth, predictions in tables():
        parts = [
            ratio(2 * int((y & z).sum()), int(y.sum() + z.sum()))
            for y, z in zip(truth.T, predictions.T, strict=True)
        ]
        assert same(float(mlloss.f1(predictions.T, truth.T)), sum(parts, Fraction(0)) / len(parts))


@check("f1-averages", "SymPy, and random tables with exact fractions")
def f1_averages() -> None:
    """The harmonic mean is concave, so the mean of F1 is at most the F1 of mean precision and mean recall."""
    p, r = symbols("p r", positive=True)
    h = 2 * p * r / (p + r)
    assert_equal(diff(h, p, 2), -4 * r**2 / (p + r) ** 3)
    assert_equal(diff(h, p, 2) * diff(h, r, 2) - diff(h, p, r) ** 2, 0 * p)
    for truth, predictions in tables():
        f1s, ps, rs = [], [], []
        for y, z in zip(truth, predictions, strict=True):
            hits = int((y & z).sum())
            ps.append(ratio(hits, int(z.sum())))
            rs.append(ratio(hits, int(y.sum())))
            f1s.append(ratio(2 * hits, int(y.sum() + z.sum())))
        p_mean, r_mean, f1_mean = (sum(values, Fraction(0)) / len(values) for values in (ps, rs, f1s))
        assert p_mean + r_mean == 0 or f1_mean <= 2 * p_mean * r_mean / (p_mean + r_mean)


# Measures of rankings.


def sides(scores: list[int], y: Labels) -> tuple[list[int], list[int]]:
    """The scores of the positives and of the negatives."""
    return [s for i, s in enumerate(scores) if i in y], [s for i, s in enumerate(scores) if i not in y]


def agrees(measure: Callable[..., torch.Tensor], scores: list[int], y: Labels, value: Fraction | int) -> bool:
    row = torch.tensor(scores, dtype=torch.float64)
    return same(float(measure(row, as_row(y, len(scores)))), value)


@check("ranking-loss", RANDOM_SCORES)
def ranking_loss() -> None:
    """The share of pairs in which the negative scores as high as the positive or higher is mlloss's."""
    for scores, y in score_rows():
        positives, negatives = sides(scores, y)
        wrong = sum(n >= p for n in negatives for p in positives)
        assert agrees(mlloss.ranking_loss, scores, y, ratio(wrong, len(positives) * len(negatives)))


@check("coverage", RANDOM_SCORES)
def coverage() -> None:
    """The largest rank of a positive is the number of labels that score as high as the lowest positive."""
    for scores, y in score_rows():
        positives, _ = sides(scores, y)
        if positives:
            depth = max(sum(s >= p for s in scores) for p in positives)
            assert depth == sum(s >= min(positives) for s in scores)
            assert agrees(mlloss.coverage_error, scores, y, depth)


@check("ranking-precision", RANDOM_SCORES)
def ranking_precision() -> None:
    """The mean over the positives of the share of positives among all that score as high is mlloss's."""
    for scores, y in score_rows():
        positives, _ = sides(scores, y)
        if positives:
            shares = [
                Fraction(sum(q >= p for q in positives), sum(s >= p for s in scores)) for p in positives
            ]
            value = sum(shares, Fraction(0)) / len(shares)
            assert agrees(mlloss.label_ranking_average_precision, scores, y, value)


# Which set is best.


@check("f1-gain")
def f1_gain() -> None:
    """One more entry with chance p raises 2A/M exactly when p is more than half of it."""
    a, m, p = symbols("A M p", positive=True)
    gain = 2 * (a + p) / (m + 1) - 2 * a / m
    assert_equal(gain, 2 / (m + 1) * (p - (2 * a / m) / 2))


@check("tuning-optimism", "random measures of up to 5 thresholds on 6 data sets, exact fractions")
def tuning_optimism() -> None:
    """The mean of the best is at least the best of the means, which no rule of choice beats on average."""
    generator = random.Random(0)
    for _ in range(200):
        thresholds = generator.randint(1, 5)
        values = [[Fraction(generator.randint(0, 9), 9) for _ in range(thresholds)] for _ in range(6)]
        true = [sum(column, Fraction(0)) / 6 for column in zip(*values, strict=True)]
        chosen = [row.index(max(row)) for row in values]
        assert sum(map(max, values), Fraction(0)) / 6 >= max(true)
        assert max(true) >= sum((true[k] for k in chosen), Fraction(0)) / 6


@check("hamming-risk", RANDOM_CHANCES)
def hamming_risk() -> None:
    """The expected number of wrong labels needs the marginal probabilities only."""
    for count, chances in distributions():
        p = marginals(count, chances)
        for z in subsets(count):
            assert wrong_labels(chances, z) == sum(1 - p[i] if i in z else p[i] for i in range(count))


@check("hamming-best", RANDOM_CHANCES)
def hamming_best() -> None:
    """The labels with marginal probability above ½ have the smallest risk, Σ min(pᵢ, 1 − pᵢ)."""
    for count, chances in distributions():
        p = marginals(count, chances)
        likely = frozenset(i for i in range(count) if p[i] > Fraction(1, 2))
        least = min(wrong_labels(chances, z) for z in subsets(count))
        assert least == wrong_labels(chances, likely) == sum(min(q, 1 - q) for q in p)


@check("exact-best", RANDOM_CHANCES)
def exact_best() -> None:
    """The expected share of exact matches of a set is its own chance, so the likeliest set is best."""
    for _, chances in distributions():
        mode = max(chances, key=lambda y: chances[y])
        shares = {z: sum(chance * int(y == z) for y, chance in chances.items()) for z in chances}
        assert shares == chances
        assert max(shares.values()) == shares[mode]


@check("pair-order", RANDOM_CHANCES)
def pair_order() -> None:
    """P(i and not j) − P(j and not i) is the difference of the marginal probabilities."""
    for count, chances in distributions():
        p = marginals(count, chances)
        for i, j in product(range(count), repeat=2):
            one, other = frozenset({i}), frozenset({j})
            assert chance_of(chances, one, other) - chance_of(chances, other, one) == p[i] - p[j]
