"""Warnings about the labels and the rows: D1xx."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ssme.arrays import BoolArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.diagnostics import significance
from ssme.diagnostics.check import (
    LABELS,
    Answer,
    Case,
    check,
    fine,
    list_first,
    not_applicable,
    warn,
    warn_unless,
)
from ssme.diagnostics.page import Severity, read_sections
from ssme.methods import clusters, label_draws
from ssme.wording import quote

UNLIKE_ROWS = "D104"
"""The check whether labeled rows look like the unlabeled ones."""


@check("D101")
def check_labels(case: Case) -> Answer:
    if case.data.n_labeled == 0:
        return warn(
            f"None of the {case.data.n_rows} rows has a label: nothing can contradict the scores."
        )
    return fine(f"{case.data.n_labeled} labels")


@check("D102", LABELS)
def check_few_of_a_class(case: Case) -> Answer:
    counts = np.bincount(case.data.labels[case.data.labeled], minlength=case.data.n_classes)
    least, names = case.limits.few_labels, case.data.classes
    few = [(str(names[k]), int(n)) for k, n in enumerate(counts) if n < least]
    if not few:
        return fine(f"at least {counts.min()} labels of each class")
    named = list_first([f"{name!r} has {n}" for name, n in few], 5, noun="classes ")
    severity: Severity | None = "note" if case.facts.recalibrates else None
    answer = warn(
        f"Fewer than {least} labels of a class: {named}.",
        "serious" if counts.min() == 0 else severity,
    )
    spoken = _describe_class_without_label(case.data, counts)
    if not spoken:
        return answer
    return answer._replace(
        reason=f"{answer.reason} {spoken}",
        advice=f"{read_sections()['D102'].advice} If it is a typo rather than a class, correct it; "
        "if it says that a judge is unsure, declare it with unsure (--unsure on the command line).",
    )


def _describe_class_without_label(data: ScoreSet, counts: IntArray) -> str:
    """A class that judges answer and no label has: who is the first, and how often it is given."""
    judged = [m for m, name in enumerate(data.models) if name in data.judges]
    answered = [m for m in judged if data.judges[data.models[m]].kind == "answers"]
    for k in np.flatnonzero(counts == 0) if data.n_classes > 2 else ():
        rows, places = np.nonzero(data.scores[:, answered, k] == 1.0)
        if rows.size:
            judge = data.models[answered[places[0]]]
            return (
                f"No label is {str(data.classes[k])!r}, and {rows.size:,} answers are, the first "
                f"that of {judge!r} at row {rows[0]}."
            )
    return ""


@check("D103")
def check_unlabeled(case: Case) -> Answer:
    if case.data.n_unlabeled == 0:
        return warn(f"All {case.data.n_rows} rows are labeled: there is nothing to infer.")
    return fine(f"{case.data.n_unlabeled} unlabeled rows")


def _compare_rows(
    case: Case, rng: np.random.Generator, upto: int | None = None
) -> tuple[np.typing.NDArray[np.intp], np.typing.NDArray[np.intp]] | None:
    """Places in ``case.rows`` of the labeled and unlabeled rows to compare; None if too few.

    At most ``upto`` unlabeled rows, by default those of the limits.

    Rows with weights are kept with a chance in proportion to their weight: those kept are a random
    sample of what the weighted rows represent, and a test of plain rows applies to them. Of a
    cluster one row is kept, labeled or not.
    """
    limits, labeled = case.limits, case.presumed_random[case.rows]
    independent = clusters.take_one_of_each(case.data.clusters, case.rows, np.random.default_rng(4))
    kept = np.isin(case.rows, independent)
    if case.data.weights is not None:
        weights, chance = case.data.weights[case.rows], np.random.default_rng(2)
        for part in (labeled, ~labeled):
            most = weights[part].max(initial=0.0)
            kept[part] &= chance.random(int(part.sum())) * most < weights[part]
    if min((labeled & kept).sum(), (~labeled & kept).sum()) < limits.least_compared:
        return None
    first = rng.permutation(np.flatnonzero(labeled & kept))[: limits.compared_labeled]
    wanted = limits.compared_unlabeled if upto is None else upto
    second = rng.permutation(np.flatnonzero(~labeled & kept))[:wanted]
    return first, second


def _measure_mean_shift(case: Case) -> tuple[int, float]:
    """The class whose weighted mean score differs most on labeled rows, and by how much."""
    labeled = case.presumed_random[case.rows]
    weights = None if case.data.weights is None else case.data.weights[case.rows]
    means = [
        np.average(case.pool[part], axis=0, weights=None if weights is None else weights[part])
        for part in (labeled, ~labeled)
    ]
    shift = means[0] - means[1]
    k = int(np.abs(shift).argmax())
    return k, float(shift[k])


def _answer_too_few(case: Case) -> Answer:
    thinned = "" if case.data.weights is None else " after thinning by weight"
    if case.data.clusters is not None:
        thinned = " with one row of each cluster"
    least = case.limits.least_compared
    return not_applicable(f"fewer than {least} labeled or unlabeled rows{thinned}")


@check(UNLIKE_ROWS, before_rounds=True)
def check_likeness(case: Case) -> Answer:
    labeled, limits = case.presumed_random[case.rows], case.limits
    rng = np.random.default_rng(0)
    compared = _compare_rows(case, rng)
    if compared is None:
        return _answer_too_few(case)
    first, second = compared
    k, shift = _measure_mean_shift(case)
    sureness = case.scores.max(axis=2)
    surer = sureness[labeled].mean() - sureness[~labeled].mean()
    views = {
        f"the mean score of class {str(case.data.classes[k])!r} is {shift:+.3f}": case.scores,
        f"the mean top score is {surer:+.3f}": sureness,
    }
    seen, problems = [], []
    for what, view in views.items():
        vectors = view.reshape(len(case.rows), -1)
        distance, p = significance.run_energy_test(
            vectors[first], vectors[second], rng, limits.permutations
        )
        seen.append(f"{what} on labeled rows (energy distance {distance:.3g}, p = {p:.3f})")
        if p < limits.family_level / len(views):
            problems.append(seen[-1])
    if not problems:
        return fine("; ".join(seen))
    return warn(f"Scores of labeled and unlabeled rows differ: {'; '.join(problems)}.")


@check("D108")
def check_shift(case: Case) -> Answer:
    labeled, limits = case.data.labeled[case.rows], case.limits
    rng = np.random.default_rng(1)
    compared = _compare_rows(case, rng, limits.compared_classes)
    if compared is None:
        return _answer_too_few(case)
    if case.data.design.kind is not None and case.data.design.kind != "random":
        return not_applicable(f"rows were chosen for labeling {case.data.design.kind}")
    every = np.concatenate(compared)
    both = every[: compared[0].size + limits.compared_unlabeled]
    features = significance.make_score_features(case.pool[both], case.scores[both])
    correlation, p_scores = significance.run_classifier_test(
        features, labeled[both], rng, limits.permutations
    )
    gap, p_gap = significance.run_class_test(
        case.pool[every], labeled[every], rng, limits.permutations
    )
    k, shift = _measure_mean_shift(case)
    seen = [
        f"labeled rows differ from the others in their scores (correlation {correlation:.2f}, "
        f"p = {p_scores:.3f})",
        f"the classes differ in frequency: the mean score of class {str(case.data.classes[k])!r} "
        f"is {shift:+.3f} on labeled rows ({gap:.1f} standard errors, p = {p_gap:.3f})",
    ]
    values = (p_scores, p_gap)
    problems = [each for each, p in zip(seen, values, strict=True) if p <= limits.shift_level]
    if not problems:
        return fine(f"p = {p_scores:.3f} by their scores, p = {p_gap:.3f} by their classes")
    return warn(f"Labeled and unlabeled rows may have shifted: {'; '.join(problems)}.")


@check("D109")
def check_assumed_shift(case: Case) -> Answer:
    design = case.data.design
    if design.assumed is None or design.weights is None:
        return fine("no shift was corrected")
    left = float(label_draws.kish(design.weights[case.data.labeled, None])[0])
    assumption = {
        "label": "rows of a class have the same scores as before. The scores test this in part",
        "covariate": "rows with the same scores have the same labels as before. Scores cannot test "
        "this, and where class proportions have changed the weights correct little",
    }[design.assumed]
    return warn(
        f"The {case.data.n_labeled} labels are weighted for {design.assumed} shift and count as "
        f"{left:.0f}: this assumes that {assumption}."
    )


@check("D111", by_labels=True)
def check_repeats(case: Case) -> Answer:
    """Whether labeled rows have the scores of another labeled row more often than by chance.

    Ties of coarse scores are as common between labeled and unlabeled rows. Copied rows are not.
    """
    limits, labeled = case.limits, case.presumed_random[case.rows]
    if case.data.clusters is not None:
        return not_applicable("rows of a cluster may have the same scores")
    if min(labeled.sum(), (~labeled).sum()) < limits.least_compared:
        return _answer_too_few(case)
    scores = np.nan_to_num(case.data.scores[case.rows, :, 1:], nan=-1.0)
    rows = np.ascontiguousarray(scores.reshape(len(case.rows), -1), dtype=np.float32)
    _, place = np.unique(rows.view(f"V{rows.shape[1] * 4}")[:, 0], return_inverse=True)

    def count(chosen: BoolArray) -> int:
        return int(chosen.sum() - np.count_nonzero(np.bincount(place[chosen])))

    rng, found = np.random.default_rng(3), count(labeled)
    if found == 0:  # as most often, and permutations take time
        return fine("no two labeled rows have the same scores in every model")
    chance = [count(rng.permutation(labeled)) for _ in range(limits.permutations)]
    p = (1 + sum(each >= found for each in chance)) / (1 + len(chance))
    text = (
        f"{found} of {labeled.sum()} labeled rows have the scores of another labeled row in every "
        f"model; labels of rows chosen at random would have {np.mean(chance):.1f} (p = {p:.3f})"
    )
    is_fine = p > limits.family_level or found < np.mean(chance) + limits.few_labels
    return warn_unless(bool(is_fine), text)


@check("D105")
def check_weights(case: Case) -> Answer:
    weights = case.data.weights
    if weights is None:
        return not_applicable("no weights")
    parts = {"all": weights, "labeled": weights[case.data.labeled]}
    for name, part in parts.items():
        if part.size == 0:
            continue
        if part.max() == 0.0:
            return warn(f"The weights of all {part.size} {name} rows are zero.")
        effective = float(label_draws.kish(part[:, None] / part.max())[0])
        if effective < case.limits.least_efficiency * part.size:
            return warn(
                f"The weights of the {part.size} {name} rows count as {effective:.1f} equal ones "
                f"({effective / part.size:.0%}); the heaviest row has "
                f"{1.0 / (part / part.max()).sum():.0%} of the weight."
            )
    return fine("weights are even enough")


@check("D106")
def check_missing(case: Case) -> Answer:
    share = np.isnan(case.data.scores[:, :, 0]).mean(axis=0)
    share = np.where([name in case.data.judges for name in case.data.models], 0.0, share)
    if not share.any():
        return fine("no scores are missing")
    worst = int(share.argmax())
    text = f"{case.data.models[worst]!r} has no score on {share[worst]:.0%} of the rows"
    if share[worst] <= case.limits.many_missing:
        return fine(text)
    many = int((share > case.limits.many_missing).sum())
    return warn(
        f"{text}; {many} of {case.data.n_models} classifiers lack over "
        f"{case.limits.many_missing:.0%}."
    )


@check("D107", LABELS)
def check_groups(case: Case) -> Answer:
    if not case.data.groups:
        return not_applicable("no groups")
    least, groups = case.limits.few_labels, case.groups
    if groups is None:
        groups = Counter[str]()
        for column, values in case.data.groups.items():
            for value, known in zip(values.tolist(), case.data.labeled.tolist(), strict=True):
                if value is not None:
                    groups[f"{column}={value}"] += known
    problems = [f"{name} has {n}" for name, n in groups.items() if n < least]
    if not problems:
        return fine(f"every group has {least} labels or more")
    named = list_first(problems, 5, noun="groups ")
    return warn(f"Fewer than {least} labels in a group: {named}.")


@check("D110")
def check_clusters(case: Case) -> Answer:
    if case.data.clusters is not None:
        return fine("clusters were declared")
    found = {} if case.data.layout is None else case.data.layout.clustered
    if not found:
        return fine("no column looks like one of clusters")
    name, n_values = next(iter(found.items()))
    others = f" (likewise {quote(list(found)[1:])})" if len(found) > 1 else ""
    return warn(
        f"Column {name!r} has {n_values:,} values on {case.data.n_rows:,} rows, and rows with the "
        f"same value have similar scores{others}: the rows look like {n_values:,} clusters."
    )


@check("D112", LABELS)
def check_proposals(case: Case) -> Answer:
    proposed, n_labeled = case.data.design.n_proposed, case.data.n_labeled
    if not proposed:
        return fine("no label is known to have been given with a proposal in view")
    return warn(
        f"{proposed:,} of {n_labeled:,} labels were given by people who saw which class a file "
        f"proposes.",
        "warning" if 2 * proposed >= n_labeled else None,
    )


def list_contradicted_labels(data: ScoreSet, limit: int = 5) -> list[dict[str, Any]]:
    """Labels with which no classifier agrees, the least probable first: errors, perhaps.

    Every classifier that scored the row, two or more, finds another class more probable. Rows are
    sorted by the mean logarithm of the label's probability over that of the best other class.
    """
    rows = np.flatnonzero(data.labeled)
    scores = data.scores[rows]
    given = np.isfinite(scores[:, :, 0])
    labels = data.labels[rows]
    logs = np.log(np.maximum(np.where(given[:, :, None], scores, 1.0), 1e-6))
    own = np.take_along_axis(logs, labels[:, None, None], axis=2)[:, :, 0]
    others = logs.copy()
    np.put_along_axis(others, labels[:, None, None], -np.inf, axis=2)
    against = ((own < others.max(axis=2)) | ~given).all(axis=1) & (given.sum(axis=1) > 1)
    mean = logs.sum(axis=1) / np.maximum(given.sum(axis=1), 1)[:, None]
    best = mean.argmax(axis=1)
    gap = np.take_along_axis(mean, labels[:, None], axis=1)[:, 0] - mean.max(axis=1)
    names = list(range(data.n_rows)) if data.ids is None else data.ids.tolist()
    order = np.flatnonzero(against)[np.argsort(gap[against], kind="stable")]
    return [
        {
            "row": names[rows[i]],
            "label": data.classes[labels[i]],
            "models": data.classes[best[i]],
        }
        for i in order[:limit]
    ]
