"""Doubts about the consensus and the fit: D3xx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ssme.diagnostics.doubt import Answer, Check
from ssme.diagnostics.evidence import Evidence
from ssme.diagnostics.significance import FAMILY_LEVEL, right_answers_tail
from ssme.methods.estimators.ensemble import mean_score

__all__ = ["FIT_CHECKS"]

LEAST_LABELS = 5
"""Fewer labels cannot contradict the pool at the level of the tests."""

WITHIN_NOISE = 2.0
"""Root mean square, over classifiers, of differences in standard errors of one label draw: twice
what two draws from the same probabilities would show."""


def _consensus_bias(e: Evidence) -> Answer:
    pool, _, labels = e.pooled_labels
    if labels.size < LEAST_LABELS:
        return Answer.not_applicable(f"fewer than {LEAST_LABELS} labels")
    if e.data.n_models < 2:
        return Answer.not_applicable("one classifier has no consensus")
    right = int((pool.argmax(axis=1) == labels).sum())
    promised = pool.max(axis=1)
    p = right_answers_tail(right, promised)
    text = (
        f"the mean score is right on {right} of {labels.size} labeled rows and promises "
        f"{promised.sum():.1f} (p = {p:.2g})"
    )
    return Answer.doubt(text[0].upper() + text[1:] + ".") if p < FAMILY_LEVEL else Answer.fine(text)


def _unanimous_and_wrong(e: Evidence) -> Answer:
    if e.data.n_models < 2:
        return Answer.not_applicable("one classifier")
    pool, scores, labels = e.pooled_labels
    votes = scores.argmax(axis=2)
    agreed = (votes == votes[:, :1]).all(axis=1)
    if agreed.sum() < LEAST_LABELS:
        return Answer.not_applicable(f"all agree on fewer than {LEAST_LABELS} labeled rows")
    right = int((votes[agreed, 0] == labels[agreed]).sum())
    promised = pool[agreed].max(axis=1)
    p = right_answers_tail(right, promised)
    n = int(agreed.sum())
    text = (
        f"where all {e.data.n_models} classifiers agree they are wrong on {n - right} of {n} "
        f"labeled rows; their mean score expects {n - promised.sum():.1f} (p = {p:.2g})"
    )
    return Answer.doubt(text[0].upper() + text[1:] + ".") if p < FAMILY_LEVEL else Answer.fine(text)


def _not_converged(e: Evidence) -> Answer:
    fits: dict[str, Mapping[str, Any]] = {"EM": e.notes}
    fits |= e.notes.get("per_model", {})
    told = {name: notes["converged"] for name, notes in fits.items() if "converged" in notes}
    if not any(state is not None for state in told.values()):
        return Answer.not_applicable("the method does not iterate to convergence")
    stopped = [name for name, state in told.items() if state is False]
    if not stopped:
        return Answer.fine("converged")
    steps = fits[stopped[0]].get("n_iter")
    after = f" after {steps} steps" if steps else ""
    return Answer.doubt(
        f"{', '.join(stopped[:4])} stopped{after} before it converged.".capitalize()
    )


def _ignores_the_data(e: Evidence) -> Answer:
    if e.posterior is None or "objective_history" not in e.notes:
        return Answer.not_applicable("no mixture was fitted")
    rows = e.rows[~e.data.labeled[e.rows]]
    if rows.size == 0:
        return Answer.not_applicable("no unlabeled rows")
    scores, posterior = e.data.scores[rows], e.posterior[rows]
    pool = mean_score(scores)
    votes = np.where(np.isfinite(scores), scores, -1.0).argmax(axis=2)
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
    if typical > WITHIN_NOISE:
        return Answer.fine(text)
    return Answer.doubt(text[0].upper() + text[1:] + ": the fit returned its first guess.")


def _outside_the_labels(e: Evidence) -> Answer:
    cells = [
        (metric.name, estimate, alone)
        for metric, estimate, alone in zip(e.metrics, e.estimates, e.labels_only, strict=True)
    ]
    if not cells or e.data.n_labeled == 0 or e.data.n_unlabeled == 0:
        return Answer.not_applicable("no estimates to hold against labels")
    level = 1.0 - FAMILY_LEVEL / (len(cells) * e.data.n_models)
    found = []
    for name, estimate, alone in cells:
        if alone.bounds is None:
            continue
        low, high = alone.interval(level)
        for j in np.flatnonzero((estimate.value < low) | (estimate.value > high)):
            found.append(
                f"{name} of {e.data.models[j]!r} is estimated {estimate.value[j]:.3f}, labels "
                f"alone allow {low[j]:.3f} to {high[j]:.3f}"
            )
    if not found:
        return Answer.fine("every estimate is one that the labels allow")
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return Answer.doubt("; ".join(found[:3]) + more + ".")


FIT_CHECKS: tuple[Check, ...] = (
    Check(
        "D301",
        "The labels contradict the consensus",
        "serious",
        "The classifiers err together, which unlabeled rows cannot show: label more rows, and if "
        "rows to label were drawn at random, trust labels alone over methods that believe the "
        "consensus.",
        _consensus_bias,
        by_labels=True,
    ),
    Check(
        "D302",
        "All classifiers agree and are wrong too often",
        "serious",
        "The classifiers share an error, which unlabeled rows cannot show: label more rows on "
        "which they agree, or add a classifier that errs differently.",
        _unanimous_and_wrong,
        by_labels=True,
    ),
    Check(
        "D303",
        "EM has not converged",
        "warning",
        "Raise max_iter or tol; the estimates may still move.",
        _not_converged,
    ),
    Check(
        "D304",
        "The fitted posterior ignores the data",
        "warning",
        "The mixture kept its initial draw, so this is the ensemble under another name; use "
        "method='auto'.",
        _ignores_the_data,
    ),
    Check(
        "D305",
        "An estimate lies outside what the labels allow",
        "serious",
        "If rows to label were drawn at random, believe the labels: use method='labeled' for it, "
        "and look at how it goes wrong.",
        _outside_the_labels,
        by_labels=True,
    ),
)
