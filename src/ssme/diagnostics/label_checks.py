"""Doubts about the labels and the rows: D1xx."""

from __future__ import annotations

import numpy as np

from ssme.diagnostics.doubt import Answer, Check
from ssme.diagnostics.evidence import Evidence
from ssme.diagnostics.significance import FAMILY_LEVEL, energy_test
from ssme.diagnostics.yardstick import UNLIKE_ROWS
from ssme.methods.parts.label_intervals import kish

__all__ = ["LABEL_CHECKS"]

FEW_LABELS = 5
"""Cochran's rule of five (Biometrics 10, 1954): below, counts are too small for approximations."""

LEAST_EFFICIENCY = 0.5
"""Kish's effective share of rows; below one half the weights more than double the variance."""

MANY_MISSING = 0.2
"""Share of missing scores up to which methods are tested here."""

COMPARED_LABELED, COMPARED_UNLABELED = 200, 400
"""Rows compared by the energy test: 600 x 600 distances."""

LEAST_COMPARED = 10
"""With fewer rows on either side the test could hardly find anything."""


def _no_labels(e: Evidence) -> Answer:
    if e.data.n_labeled == 0:
        return Answer.doubt(
            f"None of the {e.data.n_rows} rows has a label: nothing can contradict the scores."
        )
    return Answer.fine(f"{e.data.n_labeled} labels")


def _few_of_a_class(e: Evidence) -> Answer:
    if e.data.n_labeled == 0:
        return Answer.not_applicable("no labels")
    counts = np.bincount(e.data.labels[e.data.labeled], minlength=e.data.n_classes)
    few = [(str(e.data.classes[k]), int(n)) for k, n in enumerate(counts) if n < FEW_LABELS]
    if not few:
        return Answer.fine(f"at least {counts.min()} labels of each class")
    named = ", ".join(f"{name!r} has {n}" for name, n in few[:5])
    more = f" and {len(few) - 5} classes more" if len(few) > 5 else ""
    return Answer.doubt(
        f"Fewer than {FEW_LABELS} labels of a class: {named}{more}.",
        "serious" if counts.min() == 0 else None,
    )


def _none_unlabeled(e: Evidence) -> Answer:
    if e.data.n_unlabeled == 0:
        return Answer.doubt(f"All {e.data.n_rows} rows are labeled: there is nothing to infer.")
    return Answer.fine(f"{e.data.n_unlabeled} unlabeled rows")


def _unlike(e: Evidence) -> Answer:
    labeled = e.data.labeled[e.rows]
    if min(labeled.sum(), (~labeled).sum()) < LEAST_COMPARED:
        return Answer.not_applicable(f"fewer than {LEAST_COMPARED} labeled or unlabeled rows")
    rng = np.random.default_rng(0)
    here = rng.permutation(np.flatnonzero(labeled))[:COMPARED_LABELED]
    there = rng.permutation(np.flatnonzero(~labeled))[:COMPARED_UNLABELED]
    shift = e.pool[labeled].mean(axis=0) - e.pool[~labeled].mean(axis=0)
    k = int(np.abs(shift).argmax())
    sureness = e.scores.max(axis=2)
    surer = sureness[labeled].mean() - sureness[~labeled].mean()
    told = {
        f"the mean score of class {str(e.data.classes[k])!r} is {shift[k]:+.3f}": e.scores,
        f"the mean top score is {surer:+.3f}": sureness,
    }
    seen, found = [], []
    for what, view in told.items():
        vectors = view.reshape(len(e.rows), -1)
        distance, p = energy_test(vectors[here], vectors[there], rng)
        seen.append(f"{what} on labeled rows (energy distance {distance:.3g}, p = {p:.3f})")
        if p < FAMILY_LEVEL / len(told):
            found.append(seen[-1])
    if not found:
        return Answer.fine("; ".join(seen))
    return Answer.doubt(f"Scores of labeled and unlabeled rows differ: {'; '.join(found)}.")


def _heavy_weights(e: Evidence) -> Answer:
    weights = e.data.weights
    if weights is None:
        return Answer.not_applicable("no weights")
    parts = {"all": weights, "labeled": weights[e.data.labeled]}
    for name, part in parts.items():
        if part.size == 0:
            continue
        effective = float(kish(part[:, None])[0])
        if effective < LEAST_EFFICIENCY * part.size:
            return Answer.doubt(
                f"The weights of the {part.size} {name} rows count as {effective:.1f} equal ones "
                f"({effective / part.size:.0%}); the heaviest row holds "
                f"{part.max() / part.sum():.0%} of the weight."
            )
    return Answer.fine("weights are even enough")


def _missing(e: Evidence) -> Answer:
    share = np.isnan(e.data.scores[:, :, 0]).mean(axis=0)
    if not share.any():
        return Answer.fine("no scores are missing")
    worst = int(share.argmax())
    text = f"{e.data.models[worst]!r} has no score on {share[worst]:.0%} of the rows"
    if share[worst] <= MANY_MISSING:
        return Answer.fine(text)
    many = int((share > MANY_MISSING).sum())
    return Answer.doubt(f"{text}; {many} of {e.data.n_models} classifiers lack over 20 %.")


LABEL_CHECKS: tuple[Check, ...] = (
    Check(
        "D101",
        "No labels",
        "serious",
        "Label some rows drawn at random; even 20 can show that the scores are wrong together.",
        _no_labels,
    ),
    Check(
        "D102",
        "Too few labels of a class",
        "warning",
        "Label more rows of that class; metrics that need it rest on the scores until then.",
        _few_of_a_class,
    ),
    Check(
        "D103",
        "No unlabeled rows",
        "info",
        "Use method='labeled'; add unlabeled rows to gain from them.",
        _none_unlabeled,
    ),
    Check(
        UNLIKE_ROWS,
        "Labeled rows look unlike the unlabeled ones",
        "warning",
        "Labels are then no random sample, and labels alone are biased too: find out how rows were "
        "chosen, then label rows drawn at random or give weights that undo the choice.",
        _unlike,
    ),
    Check(
        "D105",
        "A few rows hold most of the weight",
        "warning",
        "Trim or smooth the weights, or label more of the heavy rows.",
        _heavy_weights,
    ),
    Check(
        "D106",
        "Many scores are missing",
        "warning",
        "Score the missing rows, or leave that classifier out; its metrics describe only the rows "
        "it scored.",
        _missing,
    ),
)
