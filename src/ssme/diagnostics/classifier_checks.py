"""Warnings about the classifiers, D2xx, and about their consensus and the fit, D3xx."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from ssme.arrays import FloatArray
from ssme.diagnostics.check import (
    ENOUGH_LABELS,
    NO_JUDGES,
    SEVERAL,
    Answer,
    Case,
    Need,
    check,
    fine,
    list_first,
    not_applicable,
    warn,
    warn_if_any,
    warn_unless,
)
from ssme.diagnostics.significance import (
    compute_independence_tail,
    compute_right_answers_tail,
    format_tail,
)
from ssme.methods.label_draws import newcombe_auc, wilson
from ssme.methods.votes import average_scores, measure_disagreement
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.decisions import ACCURACY
from ssme.metrics.kinds import Decision

# -------------------------------------------------------------------------------------------------
# How far classifiers agree: beyond chance, and as far as their own scores claim. No labels needed.
#
# Draw a class from the scores a of one classifier and one from the scores b of another. They are
# the same with probability E<a, b>, and by chance, from the mean scores alone, <E a, E b>; the
# excess
#
#     Σ_k Cov(a_k, b_k)
#
# is the numerator of Cohen's kappa (Educational and Psychological Measurement 20, 1960) for scores
# instead of votes. With C the covariance matrix of a classifier's scores over rows, and C∘C' the
# product of entries,
#
# - for independent classifiers it has mean 0 and variance Σ C_a∘C_b / n, and pairs are
#   uncorrelated;
# - for calibrated classifiers that err independently it is Σ_kl C_a[k,l] C_b[k,l] / π_k, because a
#   calibrated score has E[a_l | class k] = E[a_l a_k] / π_k; shared errors only add to it.
#
# Pairs count by the rows that both have, those without any such row not at all.


@dataclass(frozen=True)
class PairAgreement:
    """Means over pairs of classifiers; ``z`` are in standard errors of independent classifiers."""

    seen: float
    by_chance: float
    claimed: float
    z_seen: float
    z_claimed: float
    z_best_pair: float


def measure_agreement(scores: FloatArray) -> PairAgreement:
    """Agreement of ``scores`` (n, M, K), at least two classifiers; NaN where missing."""
    scored = np.where(np.isfinite(scores[:, :, 0]), 1.0, 0.0)
    count = np.maximum(scored.sum(axis=0), 1.0)
    known = np.where(scored[:, :, None] > 0.0, scores, 0.0)
    share: FloatArray = known.sum(axis=0) / count[:, None]  # (M, K)
    centered = (scored[:, :, None] * (known - share)).transpose(1, 0, 2)  # (M, n, K)
    spread = np.stack([x.T @ x / n for x, n in zip(centered, count, strict=True)])  # (M, K, K)
    prior = share.mean(axis=0)[:, None]
    relative = np.divide(spread, prior, out=np.zeros_like(spread), where=prior > 0.0)

    pair = np.triu_indices(len(share), 1)
    common = (scored.T @ scored)[pair]
    weight = common / max(float(common.mean()), 1.0)
    rows = np.maximum(common, 1.0)
    excess = _sum_products(centered, centered)[pair] / rows
    variance = np.maximum(_sum_products(spread, spread)[pair], 0.0) / rows
    claimed = _sum_products(relative, spread)[pair]
    chance = float((weight * (share @ share.T)[pair]).mean())
    error = np.where(common > 0.0, np.sqrt(variance), 0.0)
    total = float(np.sqrt((weight**2 * variance).sum()))
    best = np.divide(excess, error, out=np.zeros_like(excess), where=error > 0.0).max()
    return PairAgreement(
        seen=chance + float((weight * excess).mean()),
        by_chance=chance,
        claimed=chance + float((weight * claimed).mean()),
        z_seen=float((weight * excess).sum()) / total if total > 0.0 else 0.0,
        z_claimed=float((weight * claimed).sum()) / total if total > 0.0 else 0.0,
        z_best_pair=float(best),
    )


def _sum_products(a: FloatArray, b: FloatArray) -> FloatArray:
    """Sum of products of entries (M, M) of every a[i] with every b[j]."""
    return a.reshape(len(a), -1) @ b.reshape(len(b), -1).T


def _list_contradicted(
    case: Case, sure: bool, level: float, *, power: float = 1.0, beyond: float = -np.inf
) -> list[str]:
    """Classifiers with fewer right answers on labels than their scores promise, or more.

    ``sure`` asks for fewer. Scores are raised to ``power`` first; the share of right answers has to
    exceed the promised one by more than ``beyond``. Rows suggested in rounds are left out: where
    classifiers differ, a sound one errs more often than its own scores say. So are judges: an
    answer is not a probability and promises nothing.
    """
    scores, labels = case.data.scores[case.judging_rows], case.data.labels[case.judging_rows]
    predicted, problems = predicted_classes(scores), []
    for j, model in enumerate(case.data.models):
        scored = predicted[:, j] >= 0
        if not scored.any() or model in case.data.judges:
            continue
        raised = scores[scored, j] ** power
        chance, right = (
            raised.max(axis=1) / raised.sum(axis=1),
            predicted[scored, j] == labels[scored],
        )
        count, expected = (right, chance) if sure else (~right, 1.0 - chance)
        p = compute_right_answers_tail(int(count.sum()), expected, case.limits.exact_rows)
        if p < level and right.mean() - chance.mean() > beyond:
            problems.append(
                f"{model!r} is right on {right.sum()} of {right.size} labeled rows where its "
                f"scores promise {chance.sum():.1f} ({format_tail(p)})"
            )
    return problems


def _unless_few(case: Case, problems: list[str]) -> list[str]:
    """``problems`` of most classifiers; none where they are of few."""
    return problems if len(problems) >= case.limits.most * case.data.n_models else []


@check("D201", ENOUGH_LABELS, by_labels=True, before_rounds=True)
def check_overconfidence(case: Case) -> Answer:
    level = case.limits.family_level / case.data.n_models
    problems = _list_contradicted(case, True, level)
    answer = warn_if_any(problems, "no classifier is contradicted by the labels")
    return answer._replace(severity="note") if case.facts.recalibrates else answer


@check("D209", ENOUGH_LABELS, by_labels=True, before_rounds=True)
def check_vagueness(case: Case) -> Answer:
    limits = case.limits
    problems = _list_contradicted(case, False, limits.family_level, beyond=limits.vague)
    otherwise = "most classifiers are not right much more often than they say"
    return warn_if_any(_unless_few(case, problems), otherwise)


@check("D208")
def check_agreement_against_confidence(case: Case) -> Answer:
    conflict, limits = case.facts.agreement_conflict, case.limits
    if conflict is None:
        return not_applicable("the method does not compare agreement with confidence")
    text = (
        f"the classifiers agree as if their scores had to be raised to {np.exp(conflict):.2g} "
        "times the power that their confidence suggests"
    )
    if abs(conflict) < max(limits.conflict, limits.conflict_scales * case.facts.conflict_scale):
        return fine(text)
    similar = float(np.mean(_correlate_pairs(case)[np.triu_indices(case.data.n_models, 1)]))
    if conflict > 0.0 and similar > case.limits.similar:
        return not_applicable(
            f"the classifiers are too similar for their agreement to say how sure they should be "
            f"(mean correlation {similar:.2f})"
        )
    power = float(np.exp(np.sign(conflict) * case.limits.conflict))
    refuted = _list_contradicted(case, conflict > 0.0, case.limits.family_level, power=power)
    if len(refuted) > case.limits.most * case.data.n_models:
        return fine(f"{text}; the labels say otherwise")
    cause = (
        "the scores are too flat, or the classifiers share more errors than usual"
        if conflict > 0.0
        else "the scores look much too sharp"
    )
    return warn(f"{text[0].upper()}{text[1:]}: {cause}.")


@check("D210")
def check_ratings(case: Case) -> Answer:
    if case.data.n_classes > 2:
        return not_applicable("ratings are distinguished from scores of two classes only")
    fewest, most = case.limits.ratings
    scores = case.data.scores[case.rows]
    problems = []
    for j, model in enumerate(case.data.models):
        if model in case.data.judges:
            continue
        known = scores[np.isfinite(scores[:, j, 1]), j, 1]
        values = np.unique(known.round(6))
        many = known.size > 10 * most
        if many and fewest <= values.size <= most and np.ptp(np.diff(values)) < 1e-3:
            problems.append(f"{model!r} has {values.size} different scores, at equal distances")
    otherwise = "most classifiers' scores do not look like ratings"
    return warn_if_any(_unless_few(case, problems), otherwise)


@check("D202")
def check_against_chance(case: Case) -> Answer:
    if case.labeled_rows.size < case.limits.least_labels:
        return not_applicable(f"fewer than {case.limits.least_labels} labels")
    scores, labels = case.data.scores[case.labeled_rows], case.data.labels[case.labeled_rows]
    level = 1.0 - 2.0 * case.limits.family_level / case.data.n_models  # one-sided
    mass, models = one_hot_mass(labels, case.data.n_classes), case.data.models
    scored = np.isfinite(scores).all(axis=2)
    if case.data.n_classes == 2:
        value = get_metric("roc_auc")(scores, mass)[0]
        negatives, positives = (
            (scored & (labels == k)[:, None]).sum(axis=0).astype(np.float64) for k in (0, 1)
        )
        _, high = newcombe_auc(value, positives, negatives, level)
        chance, name = 0.5, "ROC AUC"
    else:
        value = get_metric("accuracy")(scores, mass)[0]
        _, high = wilson(value, scored.sum(axis=0).astype(np.float64), level)
        chance, name = 1.0 / case.data.n_classes, "accuracy"
    problems = [
        f"{model!r} has {name} {value[j]:.2f} on the labeled rows (at most {high[j]:.2f}; "
        f"chance is {chance:.2g})"
        for j, model in enumerate(models)
        if high[j] < chance
    ]
    answer = warn_if_any(problems, "no classifier is worse than chance on the labels")
    from_scores = any(high[j] < chance and m not in case.data.judges for j, m in enumerate(models))
    if case.data.n_classes > 2 or not from_scores:
        return answer
    other, positive = map(repr, case.data.classes)
    return answer._replace(
        advice=f"Its scores were taken as probabilities of the class {positive}. If they are those "
        f"of {other}, give positive={other} (--positive on the command line); if not, check that "
        "its columns are not swapped.",
    )


@check("D203")
def check_against_the_others(case: Case) -> Answer:
    if case.data.n_models < case.limits.views:
        return not_applicable(f"fewer than {case.limits.views} classifiers")
    first = 1 if case.data.n_classes == 2 else 0
    columns = case.scores[:, :, first:].transpose(1, 0, 2).reshape(case.data.n_models, -1)
    total = columns.sum(axis=0)
    problems, alone = [], _find_judges_alone(case)
    for j, model in enumerate(case.data.models):
        others = (total - columns[j]) / (case.data.n_models - 1)
        r = _correlate(columns[j], others)
        if r < -3.0 / np.sqrt(len(case.rows)):
            problems.append(f"{model!r} correlates {r:+.2f} with the mean of the others")
            alone.pop(model, None)
    if alone and not problems:
        return warn_if_any([*alone.values()], "")._replace(severity="warning")
    return warn_if_any([*problems, *alone.values()], "every classifier agrees with the others")


def _find_judges_alone(case: Case) -> dict[str, str]:
    """Judges who agree with the plurality of the others no more than by chance: what to say.

    With s the share of rows on which judge and plurality agree, c that by chance and n the rows
    that both answered, z = (s - c) / sqrt(c (1 - c) / n). A judge is named whose z is within chance
    although one as good as the others would be far beyond it.
    """
    if not case.data.judges:
        return {}
    n_classes = case.data.n_classes
    votes = predicted_classes(case.data.scores[case.rows])[:, :, None] == np.arange(n_classes)
    disagreement, counts = measure_disagreement(votes.astype(np.float64))
    total = votes.sum(axis=1)
    chance = np.zeros(case.data.n_models)
    for j in np.flatnonzero(counts):
        both = votes[:, j].any(axis=1) & (total - votes[:, j]).any(axis=1)
        others = (total - votes[:, j])[both]
        top = others == others.max(axis=1, keepdims=True)
        plurality = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
        chance[j] = float(votes[both, j].mean(axis=0) @ plurality)
    smoothed = (chance * counts + 1.0) / (counts + 2.0)  # few rows show no agreement by luck
    noise = np.sqrt(smoothed * (1.0 - smoothed) / np.maximum(counts, 1.0))
    beyond = float(ndtri(1.0 - case.limits.family_level))
    far = beyond + float(ndtri(1.0 - case.limits.family_level / case.data.n_models))
    excess = ((1.0 - disagreement) - chance) / np.maximum(1.0 - chance, 1e-12)
    usual = float(np.median(excess[counts > 0])) if counts.any() else 0.0
    return {
        model: f"{model!r} agrees with most of the others on {1.0 - disagreement[j]:.0%} of "
        f"{counts[j]:.0f} rows, and by chance on {chance[j]:.0%}"
        for j, model in enumerate(case.data.models)
        if model in case.data.judges
        and counts[j] > 0
        and (1.0 - disagreement[j] - chance[j]) / noise[j] < beyond
        and usual * (1.0 - chance[j]) / noise[j] > far
    }


@check("D204", SEVERAL)
def check_duplicates(case: Case) -> Answer:
    r = np.triu(_correlate_pairs(case), 1)
    pairs = np.argwhere(r > case.limits.same)
    problems = [
        f"{case.data.models[i]!r} and {case.data.models[j]!r} (r = {r[i, j]:.4f})" for i, j in pairs
    ]
    answer = warn_if_any(problems, f"closest pair: r = {r.max():.3f}")
    views = case.facts.independent_views
    shared = views is not None and views >= case.limits.views  # copies share a vote
    return answer._replace(severity="note") if shared else answer


def _correlate_pairs(case: Case) -> FloatArray:
    """Correlations (M, M) of scores, each over the rows that both have.

    They are 0 where these rows are fewer than the limits ask for. Answers that are the same on few
    rows are not copies: good judges agree.
    """
    scores = case.data.scores[case.rows]
    scored = np.isfinite(scores[:, :, 0]).T
    first = 1 if scores.shape[2] == 2 else 0
    x = np.where(scored.T[:, :, None], scores, 0.0)[:, :, first:].transpose(1, 0, 2)
    known = np.repeat(scored[:, :, None], x.shape[2], axis=2).reshape(len(x), -1).astype(np.float64)
    x = x.reshape(len(x), -1)
    count = np.maximum(known @ known.T, 1.0)
    total, squares = x @ known.T, (x**2) @ known.T
    spread = np.maximum(squares - total**2 / count, 0.0)
    scale = np.sqrt(spread * spread.T)
    shared = x @ x.T - total * total.T / count
    r = np.divide(shared, scale, out=np.zeros_like(shared), where=scale > 1e-9)
    judges = np.array([name in case.data.judges for name in case.data.models])
    counts = scored.astype(np.float64) @ scored.T
    answers, least = case.limits.least_common_answers, case.limits.least_common
    few = counts < np.where(judges[:, None] & judges, answers, least)
    partial = counts < scored.shape[1]
    return np.where(few & (partial | (judges[:, None] & judges)), 0.0, r)


@check("D205")
def check_few(case: Case) -> Answer:
    n = case.data.n_models
    if n >= case.limits.views:
        return fine(f"{n} classifiers")
    return warn(
        "One classifier: nothing but the labels can check it."
        if n == 1
        else "Two classifiers: where they disagree, nothing tells which one is right."
    )


@check("D206")
def check_constant(case: Case) -> Answer:
    scores = case.data.scores[case.rows]
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(scores, axis=0), np.fmax.reduce(scores, axis=0)
    flat = np.isfinite(low).all(axis=1) & ((high - low) == 0.0).all(axis=1)
    problems = [
        f"{case.data.models[j]!r} gives every row the same score" for j in np.flatnonzero(flat)
    ]
    return warn_if_any(problems, "all scores vary")


@check("D207", SEVERAL)
def check_by_chance(case: Case) -> Answer:
    agreement = measure_agreement(case.data.scores[case.rows])
    beyond_chance = float(ndtri(1.0 - case.limits.family_level))
    power = agreement.z_claimed * (case.limits.judges_claim if case.data.judges else 1.0)
    if power < 2.0 * beyond_chance:
        return not_applicable("scores too unsure, or rows too few, for agreement to show")
    text = (
        f"classes drawn by the scores of two classifiers agree on {agreement.seen:.1%} of "
        f"{len(case.rows)} rows; by chance on {agreement.by_chance:.1%}, and if the scores were "
        f"right on at least {agreement.claimed:.1%}"
    )
    pairs = case.data.n_models * (case.data.n_models - 1) // 2
    pair_beyond_chance = float(ndtri(1.0 - case.limits.family_level / pairs))
    agree = agreement.z_seen > beyond_chance or agreement.z_best_pair > pair_beyond_chance
    return warn_unless(agree, text)


def _correlate(a: FloatArray, b: FloatArray) -> float:
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0.0 else 0.0


# -------------------------------------------------------------------------------------------------
# The consensus of the classifiers, and what was fitted to them.


COMPARABLE = Need(
    lambda case: bool(case.cells and case.data.n_labeled and case.data.n_unlabeled),
    "no estimates to compare with labels",
)


@check("D301", ENOUGH_LABELS, SEVERAL, NO_JUDGES, by_labels=True, before_rounds=True)
def check_consensus(case: Case) -> Answer:
    pool, _, labels = case.pooled_labels
    right = int((predicted_classes(pool[:, None])[:, 0] == labels).sum())
    promised = pool.max(axis=1)
    p = compute_right_answers_tail(right, promised, case.limits.exact_rows)
    text = (
        f"the mean score is right on {right} of {labels.size} labeled rows and promises "
        f"{promised.sum():.1f} ({format_tail(p)})"
    )
    return warn_unless(p >= case.limits.family_level, text)


@check("D302", SEVERAL, NO_JUDGES, by_labels=True, before_rounds=True)
def check_unanimity(case: Case) -> Answer:
    pool, scores, labels = case.pooled_labels
    votes = predicted_classes(scores)
    agreed = (votes == votes[:, :1]).all(axis=1)
    if agreed.sum() < case.limits.least_labels:
        return not_applicable(f"all agree on fewer than {case.limits.least_labels} labeled rows")
    right = int((votes[agreed, 0] == labels[agreed]).sum())
    promised = pool[agreed].max(axis=1)
    p = compute_right_answers_tail(right, promised, case.limits.exact_rows)
    n = int(agreed.sum())
    both = "both" if case.data.n_models == 2 else f"all {case.data.n_models}"
    text = (
        f"where {both} classifiers agree they are wrong on {n - right} of {n} "
        f"labeled rows; their mean score expects {n - promised.sum():.1f} ({format_tail(p)})"
    )
    return warn_unless(p >= case.limits.family_level, text)


@check("D303")
def check_convergence(case: Case) -> Answer:
    fits = {name: fit for name, fit in case.facts.fits.items() if fit.converged is not None}
    if not fits:
        return not_applicable("the method does not iterate to convergence")
    stopped = [name for name, fit in fits.items() if not fit.converged]
    if not stopped:
        return fine("converged")
    named = list_first([repr(name) for name in stopped if name], 4)
    steps = fits[stopped[0]].n_iter
    after = f" after {steps} steps" if steps else ""
    return warn(f"The fit{f' of {named}' if named else ''} stopped{after} before it converged.")


@check("D304")
def check_data_is_used(case: Case) -> Answer:
    posterior = None if case.belief is None else case.belief.posterior
    if posterior is None or not case.facts.is_mixture:
        return not_applicable("no mixture was fitted")
    rows = case.rows[~case.data.labeled[case.rows]]
    if rows.size == 0:
        return not_applicable("no unlabeled rows")
    scores, posterior = case.data.scores[rows], posterior[rows]
    pool = average_scores(scores)
    votes = predicted_classes(scores)
    at = np.arange(rows.size)[:, None]
    scored = np.isfinite(scores).all(axis=2)
    total = np.maximum(scored.sum(axis=0), 1)
    by_pool, by_fit = pool[at, votes], posterior[at, votes]
    gap = (scored * (by_fit - by_pool)).sum(axis=0) / total
    noise = np.sqrt((scored * by_pool * (1.0 - by_pool)).sum(axis=0)) / total
    typical = float(np.sqrt(np.mean((gap / np.maximum(noise, 1e-12)) ** 2)))
    text = (
        f"accuracies under the fitted posterior differ from those under the mean score by "
        f"{np.abs(gap).mean():.3f} on average, {typical:.1f} standard errors of one label draw"
    )
    is_fine = typical > case.limits.within_noise
    return warn_unless(is_fine, text, ": the fit returned its first guess.")


@check("D305", COMPARABLE, by_labels=True)
def check_span_of_labels(case: Case) -> Answer:
    level = 1.0 - case.limits.family_level / (len(case.cells) * case.data.n_models)
    problems = []
    for metric, estimate, alone in case.cells:
        # bins and ranks that no label is in are not in the interval of labels alone
        if alone.bounds is None or not isinstance(metric.kind, Decision):
            continue
        low, high = alone.interval(level)
        for j in np.flatnonzero((estimate.value < low) | (estimate.value > high)):
            problems.append(
                f"{metric.name} of {case.data.models[j]!r} is estimated {estimate.value[j]:.3f}, "
                f"labels alone allow {low[j]:.3f} to {high[j]:.3f}"
            )
    return warn_if_any(problems, "every estimate is one that the labels allow", shown=3)


@check("D309", COMPARABLE)
def check_labels_against_estimates(case: Case) -> Answer:
    shown, named, outside, known, widened = [], [], 0, 0, False
    for metric, estimate, alone in case.cells:
        low, high = replace(estimate, contains=None).interval(case.limits.level)
        least, most = alone.interval(case.limits.level)
        known += int((np.isfinite(alone.value) & np.isfinite(low)).sum())
        outside += int(((alone.value < low) | (alone.value > high)).sum())
        widened = widened or estimate.contains is not None
        for j in np.flatnonzero(estimate.find_contradictions(alone, case.limits.level)):
            named.append(f"{metric.name} of {case.data.models[j]!r}")
            shown.append(
                f"{named[-1]} is estimated {estimate.value[j]:.3f} ({low[j]:.3f} to "
                f"{high[j]:.3f}), labels alone say {alone.value[j]:.3f} ({least[j]:.3f} to "
                f"{most[j]:.3f})"
            )
    text = f"labels alone are outside the interval of {outside} of {known} estimates"
    if not named:
        return fine(f"{text}, by no more than chance explains")
    rest = f"; and also {', '.join(named[3:])}" if named[3:] else ""
    action = " The intervals named here are widened to contain labels alone." if widened else ""
    return warn(
        f"{'; '.join(shown[:3])}{rest}.{action} In all, {text}; the others may be so by chance."
    )


@check("D310", SEVERAL)
def check_correlation(case: Case) -> Answer:
    correlation, views = case.facts.error_correlation, case.facts.independent_views
    if views is not None and views > case.limits.most_views:
        return warn(
            f"About {views:.0f} classifiers check each other, more than in any set that the method "
            "was measured on: its intervals may be too narrow."
        )
    if correlation is None:
        return _check_shared_errors(case)
    low, high = case.limits.usual_correlations
    text = f"the scores of the classifiers have a correlation of {correlation:.2f} within classes"
    if low <= correlation <= high:
        return fine(text)
    usual = f"nearly all sets of classifiers that were measured have {low:.2f} to {high:.2f}"
    cause = "err together more" if correlation > high else "err more independently"
    return warn(f"{text}; {usual}: they {cause} than the method expects.")


def _check_shared_errors(case: Case) -> Answer:
    """Whether judges of two classes agree as if they erred independently, given the class."""
    data, limits = case.data, case.limits
    if not case.facts.expects_shared_errors or data.n_classes > 2:
        return not_applicable("the method does not measure how far classifiers err together")
    scores = data.scores[case.rows]
    scores = scores[np.isfinite(scores).all(axis=(1, 2))]
    if data.n_models < limits.judges_compared or len(scores) < limits.rows_compared:
        return not_applicable("too few judges, or rows that all of them answered, to compare votes")
    p = compute_independence_tail(predicted_classes(scores) == 1)
    text = f"votes of judges who err independently would differ as much with {format_tail(p)}"
    if p < limits.family_level:
        return fine(text)
    return warn(
        f"The votes of the judges are those of judges who err independently ({format_tail(p)}), "
        "while the method expects them to find the same rows hard: the best of them may be better "
        "than estimated."
    )


@check("D306")
def check_worlds(case: Case) -> Answer:
    if not case.facts.other_worlds:
        return not_applicable("the method compares no other assumptions")
    worlds = case.facts.other_worlds
    odd = sum(chance for chance, _ in worlds.values())
    chance, meaning = max(worlds.values())
    text = f"the usual assumptions do not hold with probability {odd:.2f}"
    rest = f". With probability {chance:.2f}, {meaning}."
    return warn_unless(odd < case.limits.odd, text, rest)


@check("D307", by_labels=True)
def check_pull_of_best(case: Case) -> Answer:
    for metric, estimate, alone in case.cells:
        known = alone.bounds is not None and np.isfinite(alone.value).any()
        if metric.kind != ACCURACY or not known or case.data.n_models < 2:
            continue
        best = int(np.nanargmax(alone.value))
        low, _ = alone.interval(1.0 - 2.0 * case.limits.pulled / case.data.n_models)
        text = (
            f"{case.data.models[best]!r} is best on the labels with accuracy "
            f"{alone.value[best]:.3f} (at least {low[best]:.3f}) and is estimated "
            f"{estimate.value[best]:.3f}"
        )
        return warn_unless(bool(estimate.value[best] >= low[best]), text)
    return not_applicable("no accuracy of several classifiers to compare with labels")


@check("D308")
def check_widths(case: Case) -> Answer:
    """An accuracy of rows without labels is never known exactly; other metrics may be."""
    problems, asked = [], False
    for metric, estimate, alone in case.cells:
        of_rows = isinstance(metric.kind, Decision) and metric.kind.share_of == ACCURACY.share_of
        if not of_rows or case.data.n_unlabeled == 0 or alone.bounds is None:
            continue
        asked = True
        low, high = estimate.interval(case.limits.level)
        low_alone, high_alone = alone.interval(case.limits.level)
        for j in np.flatnonzero((high - low < 1e-9) & (high_alone - low_alone > 1e-9)):
            problems.append(
                f"{metric.name} of {case.data.models[j]!r} is {low[j]:.3f} to {high[j]:.3f}, "
                f"labels alone say {low_alone[j]:.3f} to {high_alone[j]:.3f}"
            )
    if not asked:
        return not_applicable("no accuracy of unlabeled rows to compare with labels")
    if not problems:
        return fine("every interval of an accuracy has a width")
    return warn(f"The interval of {list_first(problems, 3, '; of ')}.")
