"""Doubts about the consensus and the fit: D3xx."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ssme.diagnostics.doubt import Answer, Case, Check, doubt_if_any, doubt_unless
from ssme.diagnostics.significance import compute_right_answers_tail, format_tail
from ssme.methods.votes import average_scores
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.decisions import ACCURACY
from ssme.metrics.kinds import Decision


def _check_consensus(case: Case) -> Answer:
    pool, _, labels = case.pooled_labels
    if labels.size < case.limits.least_labels:
        return Answer.not_applicable(f"fewer than {case.limits.least_labels} labels")
    if case.data.n_models < 2:
        return Answer.not_applicable("one classifier has no consensus")
    if case.data.judges:
        return Answer.not_applicable("answers of judges promise nothing")
    right = int((predicted_classes(pool[:, None])[:, 0] == labels).sum())
    promised = pool.max(axis=1)
    p = compute_right_answers_tail(right, promised, case.limits.exact_rows)
    text = (
        f"the mean score is right on {right} of {labels.size} labeled rows and promises "
        f"{promised.sum():.1f} ({format_tail(p)})"
    )
    return doubt_unless(p >= case.limits.family_level, text)


def _check_unanimity(case: Case) -> Answer:
    if case.data.n_models < 2:
        return Answer.not_applicable("one classifier")
    if case.data.judges:
        return Answer.not_applicable("answers of judges promise nothing")
    pool, scores, labels = case.pooled_labels
    votes = predicted_classes(scores)
    agreed = (votes == votes[:, :1]).all(axis=1)
    if agreed.sum() < case.limits.least_labels:
        return Answer.not_applicable(
            f"all agree on fewer than {case.limits.least_labels} labeled rows"
        )
    right = int((votes[agreed, 0] == labels[agreed]).sum())
    promised = pool[agreed].max(axis=1)
    p = compute_right_answers_tail(right, promised, case.limits.exact_rows)
    n = int(agreed.sum())
    text = (
        f"where all {case.data.n_models} classifiers agree they are wrong on {n - right} of {n} "
        f"labeled rows; their mean score expects {n - promised.sum():.1f} ({format_tail(p)})"
    )
    return doubt_unless(p >= case.limits.family_level, text)


def _check_convergence(case: Case) -> Answer:
    fits = {name: fit for name, fit in case.facts.fits.items() if fit.converged is not None}
    if not fits:
        return Answer.not_applicable("the method does not iterate to convergence")
    stopped = [name for name, fit in fits.items() if not fit.converged]
    if not stopped:
        return Answer.fine("converged")
    named = ", ".join(repr(name) for name in stopped[:4] if name)
    more = f" and {len(stopped) - 4} more" if len(stopped) > 4 else ""
    steps = fits[stopped[0]].n_iter
    after = f" after {steps} steps" if steps else ""
    return Answer.doubt(
        f"The fit{f' of {named}{more}' if named else ''} stopped{after} before it converged."
    )


def _check_data_is_used(case: Case) -> Answer:
    if case.posterior is None or not case.facts.is_mixture:
        return Answer.not_applicable("no mixture was fitted")
    rows = case.rows[~case.data.labeled[case.rows]]
    if rows.size == 0:
        return Answer.not_applicable("no unlabeled rows")
    scores, posterior = case.data.scores[rows], case.posterior[rows]
    pool = average_scores(scores)
    votes = predicted_classes(scores)
    at = np.arange(rows.size)[:, None]
    held = np.isfinite(scores).all(axis=2)
    total = np.maximum(held.sum(axis=0), 1)
    by_pool, by_fit = pool[at, votes], posterior[at, votes]
    gap = (held * (by_fit - by_pool)).sum(axis=0) / total
    noise = np.sqrt((held * by_pool * (1.0 - by_pool)).sum(axis=0)) / total
    typical = float(np.sqrt(np.mean((gap / np.maximum(noise, 1e-12)) ** 2)))
    text = (
        f"accuracies under the fitted posterior differ from those under the mean score by "
        f"{np.abs(gap).mean():.3f} on average, {typical:.1f} standard errors of one label draw"
    )
    is_fine = typical > case.limits.within_noise
    return doubt_unless(is_fine, text, ": the fit returned its first guess.")


def _check_span_of_labels(case: Case) -> Answer:
    cells = list(zip(case.metrics, case.estimates, case.labels_only, strict=True))
    if not cells or case.data.n_labeled == 0 or case.data.n_unlabeled == 0:
        return Answer.not_applicable("no estimates to hold against labels")
    level = 1.0 - case.limits.family_level / (len(cells) * case.data.n_models)
    found = []
    for metric, estimate, alone in cells:
        if alone.bounds is None:
            continue
        low, high = alone.interval(level)
        for j in np.flatnonzero((estimate.value < low) | (estimate.value > high)):
            found.append(
                f"{metric.name} of {case.data.models[j]!r} is estimated {estimate.value[j]:.3f}, "
                f"labels alone allow {low[j]:.3f} to {high[j]:.3f}"
            )
    return doubt_if_any(found, "every estimate is one that the labels allow", shown=3)


def _check_labels_against_estimates(case: Case) -> Answer:
    if not case.estimates or case.data.n_labeled == 0 or case.data.n_unlabeled == 0:
        return Answer.not_applicable("no estimates to hold against labels")
    shown, named, outside, known, widened = [], [], 0, 0, False
    for metric, estimate, alone in zip(case.metrics, case.estimates, case.labels_only, strict=True):
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
        return Answer.fine(f"{text}, by no more than chance explains")
    rest = f"; and also {', '.join(named[3:])}" if named[3:] else ""
    action = " The intervals named here are widened to contain labels alone." if widened else ""
    return Answer.doubt(
        f"{'; '.join(shown[:3])}{rest}.{action} In all, {text}; the others may be so by chance."
    )


def _check_worlds(case: Case) -> Answer:
    worlds = case.facts.other_worlds
    if not worlds:
        return Answer.not_applicable("the method compares no other assumptions")
    odd = sum(chance for chance, _ in worlds.values())
    chance, meaning = max(worlds.values())
    text = f"the usual assumptions do not hold with probability {odd:.2f}"
    rest = f". With probability {chance:.2f}, {meaning}."
    return doubt_unless(odd < case.limits.odd, text, rest)


def _check_pull_of_best(case: Case) -> Answer:
    for metric, estimate, alone in zip(case.metrics, case.estimates, case.labels_only, strict=True):
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
        return doubt_unless(bool(estimate.value[best] >= low[best]), text)
    return Answer.not_applicable("no accuracy of several classifiers to hold against labels")


def _check_widths(case: Case) -> Answer:
    """An accuracy of rows without labels is never known exactly; other metrics may be."""
    found, asked = [], False
    for metric, estimate, alone in zip(case.metrics, case.estimates, case.labels_only, strict=True):
        of_rows = isinstance(metric.kind, Decision) and metric.kind.share_of == ACCURACY.share_of
        if not of_rows or case.data.n_unlabeled == 0 or alone.bounds is None:
            continue
        asked = True
        low, high = estimate.interval(case.limits.level)
        low_alone, high_alone = alone.interval(case.limits.level)
        for j in np.flatnonzero((high - low < 1e-9) & (high_alone - low_alone > 1e-9)):
            found.append(
                f"{metric.name} of {case.data.models[j]!r} is {low[j]:.3f} to {high[j]:.3f}, "
                f"labels alone say {low_alone[j]:.3f} to {high_alone[j]:.3f}"
            )
    if not asked:
        return Answer.not_applicable("no accuracy of unlabeled rows to hold against labels")
    if not found:
        return Answer.fine("every interval of an accuracy has a width")
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return Answer.doubt("The interval of " + "; of ".join(found[:3]) + more + ".")


FIT_CHECKS: tuple[Check, ...] = (
    Check(
        "D301",
        "The labels contradict the consensus",
        "serious",
        "The classifiers err together, which unlabeled rows cannot show: label more rows, and if "
        "rows to label were drawn at random, trust labels alone over methods that believe the "
        "consensus.",
        _check_consensus,
        by_labels=True,
        before_rounds=True,
    ),
    Check(
        "D302",
        "All classifiers agree and are wrong too often",
        "serious",
        "The classifiers share an error, which unlabeled rows cannot show: label more rows on "
        "which they agree, or add a classifier that errs differently.",
        _check_unanimity,
        by_labels=True,
        before_rounds=True,
    ),
    Check(
        "D303",
        "The fit has not converged",
        "warning",
        "Raise the method's option max_iter or tol; the estimates may still move.",
        _check_convergence,
    ),
    Check(
        "D304",
        "The fitted posterior ignores the data",
        "warning",
        "The mixture kept its initial draw, so that the result is that of the ensemble; use "
        "method='auto'.",
        _check_data_is_used,
    ),
    Check(
        "D305",
        "An estimate lies outside what the labels allow",
        "serious",
        "If the labeled rows were drawn at random, trust the labels: use method='labeled' for "
        "this metric, and find out why the estimate is wrong.",
        _check_span_of_labels,
        by_labels=True,
    ),
    Check(
        "D306",
        "The data fit other assumptions better than the usual ones",
        "warning",
        "The intervals allow for this, and the estimates lean towards the likeliest explanation; "
        "more labels will decide. If rows were chosen for labeling by their class or their "
        "scores, declare it (--design on the command line, design in Python).",
        _check_worlds,
    ),
    Check(
        "D307",
        "The best classifier may be better than estimated",
        "warning",
        "Estimates are drawn towards what the classifiers agree on: where one is far better than "
        "the rest, label more rows before you decide against it.",
        _check_pull_of_best,
        by_labels=True,
    ),
    Check(
        "D308",
        "An interval has no width",
        "serious",
        "A few labels cannot determine a metric exactly. Read the interval of labels alone, or use "
        "method='auto' or method='labeled'.",
        _check_widths,
    ),
    Check(
        "D309",
        "Labels alone contradict an estimate",
        "info",
        "One such estimate among many is often a matter of chance, several are not. If the labeled "
        "rows were drawn at random, label more rows before you decide by it.",
        _check_labels_against_estimates,
    ),
)
