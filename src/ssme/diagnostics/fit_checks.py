"""Warnings about the consensus and the fit: D3xx."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

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
from ssme.diagnostics.significance import compute_right_answers_tail, format_tail
from ssme.methods.votes import average_scores
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.decisions import ACCURACY
from ssme.metrics.kinds import Decision

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
        if alone.bounds is None:
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
