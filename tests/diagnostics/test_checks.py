"""Every check both ways: it fires on data made for it, and not on healthy data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme.data.design import LabelDesign
from ssme.data.scoreset import ScoreSet
from ssme.diagnostics import CHECKS, Case, ResultWarning, ask_all, check_all
from ssme.diagnostics.check import Limits
from ssme.methods.answers.method import Answers
from ssme.methods.base import Convergence, Estimate, Facts
from ssme.metrics import get_metric
from ssme.results.shift import correct_shift


def healthy(n: int = 600, labeled: int = 80, models: int = 4, classes: int = 2) -> ScoreSet:
    """Calibrated classifiers: each reports the posterior given its own noisy view of the label."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, classes, n)
    evidence = rng.normal(size=(n, models, classes))
    evidence[np.arange(n), :, y] += 1.5
    scores = np.exp(1.5 * evidence)
    scores /= scores.sum(axis=2, keepdims=True)
    names = tuple(f"m{j}" for j in range(models))
    labels = np.where(np.arange(n) < labeled, y, -1)
    return ScoreSet(scores, labels, names, tuple(range(classes)))


def truth() -> np.ndarray:
    return np.random.default_rng(7).integers(0, 2, 600)


def with_model(data: ScoreSet, j: int, positive: np.ndarray) -> ScoreSet:
    scores = data.scores.copy()
    scores[:, j] = np.stack([1.0 - positive, positive], axis=1)
    return replace(data, scores=scores)


@dataclass(frozen=True, eq=False)
class MadeFacts(Facts):
    """Facts as a method would tell them."""

    worlds: Mapping[str, tuple[float, str]] = field(default_factory=lambda: {"odd": (0.2, "?")})
    conflict: float | None = 0.1
    correlation: float | None = None
    views: float | None = None

    @property
    def independent_views(self) -> float | None:
        return self.views

    @property
    def other_worlds(self) -> Mapping[str, tuple[float, str]]:
        return self.worlds

    @property
    def agreement_conflict(self) -> float | None:
        return self.conflict

    @property
    def error_correlation(self) -> float | None:
        return self.correlation


def belief(posterior: np.ndarray | None = None, **facts: Any) -> SimpleNamespace:
    return SimpleNamespace(posterior=posterior, facts=MadeFacts(**facts))


def all_wrong_together(data: ScoreSet, every: int) -> ScoreSet:
    """One row in ``every`` on which every classifier is sure of the wrong class."""
    scores, y = data.scores.copy(), truth()
    bad = np.arange(600) % every == 0
    wrong = np.stack([y[bad] == 1, y[bad] == 0], axis=1) * 0.96 + 0.02
    scores[bad] = wrong[:, None, :]
    return replace(data, scores=scores)


def find(*case: Any) -> dict[str, ResultWarning]:
    """The warnings of a case by code."""
    return {warning.code: warning for warning in check_all(Case(*case))}


def no_labels():
    return (replace(healthy(), labels=np.full(600, -1)),)


def all_labeled():
    return (replace(healthy(), labels=truth()),)


def two_models():
    return (healthy(models=2),)


def few_positives():
    data = healthy()
    keep = (data.labels == 0) | ((data.labels == 1) & (np.cumsum(data.labels == 1) <= 3))
    return (replace(data, labels=np.where(keep, data.labels, -1)),)


def label_surest(by_class: bool):
    """Labels of the rows whose scores are surest, or surest of class 1."""
    data = healthy()
    sure = data.scores.max(axis=2) if by_class else data.scores[:, :, 1]
    labels, surest = np.full(600, -1), np.argsort(-sure.mean(axis=1))[:80]
    labels[surest] = truth()[surest]
    return (replace(data, labels=labels),)


def easy_rows_labeled():
    return label_surest(by_class=False)


def rare_class(balanced: bool) -> ScoreSet:
    """Sound classifiers of a class of 4 %; 60 labels at random, or half and half."""
    rng = np.random.default_rng(5)
    n, prior = 4_000, np.array([0.96, 0.04])
    y = (rng.random(n) < prior[1]).astype(int)
    view = rng.normal(size=(n, 5, 2))
    view[np.arange(n), :, y] += 1.0
    scores = prior * np.exp(view)
    scores /= scores.sum(axis=2, keepdims=True)
    picked = rng.permutation(n)[:60]
    if balanced:
        picked = np.concatenate([np.flatnonzero(y == k)[:30] for k in (0, 1)])
    labels = np.full(n, -1)
    labels[picked] = y[picked]
    return ScoreSet(scores, labels, tuple("abcde"), (0, 1))


def many_missing():
    scores = healthy().scores.copy()
    scores[::3, 1] = np.nan
    return (replace(healthy(), scores=scores),)


def change_model(j: int, change: Any, **data: int):
    """One model whose scores of class 1 are changed."""
    made = healthy(**data)
    return (with_model(made, j, change(made.scores[:, j, 1])),)


def inverted():
    return change_model(2, lambda positive: 1.0 - positive)


def duplicated():
    nudge = 1e-3 * np.random.default_rng(0).random(600)
    copied = np.clip(healthy().scores[:, 0, 1] + nudge, 0.0, 1.0)
    return change_model(1, lambda _: copied)


def kept_its_draw():
    data = healthy()
    pool = data.scores.mean(axis=1)
    drawn = (np.random.default_rng(1).random(600) < pool[:, 1]).astype(int)
    return data, belief(np.eye(2)[drawn], is_mixture=True)


def with_estimate(change: Any):
    """Healthy data whose estimate of accuracy is changed from that of labels alone."""
    data = healthy()
    alone = ssme.evaluate(data, method="labeled", metrics="accuracy").estimates[0][0]
    return data, belief(), [get_metric("accuracy")], [change(alone.value)], [alone]


def estimate_off():
    return with_estimate(lambda value: Estimate(value - 0.4))


def estimate_with_draws_off(value: np.ndarray) -> Estimate:
    noise = np.random.default_rng(0).normal(0.0, 0.01, (200, value.size))
    return Estimate(value - 0.4, value - 0.4 + noise)


def some_groups(least: int = 3):
    names = np.where(np.arange(600) % 80 < least, "few", "many").astype(object)
    return (replace(healthy(), groups={"site": names}),)


def vague():
    data = with_model(healthy(), 1, 0.5 + 0.1 * (truth() - 0.5))
    return (with_model(data, 2, 0.5 + 0.1 * (truth() - 0.5)),)


def copied_rows():
    """A quarter of the rows once more, with their labels."""
    data = healthy()
    rows = np.concatenate([np.arange(600), np.arange(0, 600, 4)])
    return (replace(data, scores=data.scores[rows], labels=data.labels[rows]),)


def rated():
    data = healthy()
    for j in (1, 2):
        data = with_model(data, j, np.round(4.0 * data.scores[:, j, 1]) / 5.0 + 0.1)
    return (data,)


def a_judge_alone():
    """Six judges, each of whom answers half the rows; one of them answers at random."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 600)
    said = np.where(rng.random((600, 6)) < 0.75, truth[:, None], rng.integers(0, 3, (600, 6)))
    said[:, 2] = rng.integers(0, 3, 600)
    kept = np.where(rng.random((600, 6)) < 0.5, said, None)
    kept[:, 5] = said[:, 5]
    labels = [int(y) if i < 60 else None for i, y in enumerate(truth)]
    return (ScoreSet.from_answers(kept, labels, classes=[0, 1, 2]),)


def answered_several_times():
    rng = np.random.default_rng(0)
    center = np.repeat(rng.normal(size=60), 5)
    scores = 1 / (1 + np.exp(-center - 0.5 * rng.normal(size=300)))
    prompts = np.repeat([f"prompt {i}" for i in range(60)], 5)
    frame = pd.DataFrame({"a": scores, "b": scores**2, "y": 1.0 * (scores > 0.5), "text": prompts})
    return (ScoreSet.from_frame(frame, "y"),)


FIRES: dict[str, list[Any]] = {
    "D101": [no_labels],
    "D102": [few_positives],
    "D103": [all_labeled],
    "D104": [easy_rows_labeled, lambda: label_surest(by_class=True)],
    "D105": [lambda: (replace(healthy(), weights=np.where(np.arange(600) == 3, 500.0, 1.0)),)],
    "D106": [many_missing],
    "D107": [some_groups],
    "D108": [easy_rows_labeled, lambda: label_surest(by_class=True)],
    "D109": [lambda: (correct_shift(healthy(), "covariate"),)],
    "D110": [answered_several_times],
    "D111": [copied_rows],
    "D112": [lambda: (healthy().with_design(LabelDesign(n_proposed=3)),)],
    "D201": [lambda: change_model(0, lambda p: np.clip(np.round(p), 0.002, 0.998))],
    "D202": [inverted],
    "D203": [inverted, a_judge_alone],
    "D204": [duplicated],
    "D205": [two_models],
    "D206": [lambda: change_model(0, lambda p: np.full(600, 0.3))],
    "D207": [
        lambda: (
            replace(healthy(), scores=np.random.default_rng(3).dirichlet([0.5] * 2, (600, 4))),
        ),
        lambda: change_model(1, np.random.default_rng(0).permutation, models=2),
    ],
    "D208": [lambda: (healthy(), belief(conflict=1.2))],
    "D209": [vague],
    "D210": [rated],
    "D301": [lambda: (all_wrong_together(healthy(), 3),)],
    "D302": [lambda: (all_wrong_together(healthy(), 5),)],
    "D303": [
        lambda: (healthy(), belief(fits={"": Convergence(False, 20)})),
        lambda: (healthy(), belief(fits={"m1": Convergence(False, 5)})),
    ],
    "D304": [kept_its_draw],
    "D305": [estimate_off],
    "D306": [lambda: (healthy(), belief(worlds={"a": (0.5, "all is odd"), "b": (0.2, "some is")}))],
    "D307": [lambda: with_estimate(lambda v: Estimate(v - 0.2 * (np.arange(4) == v.argmax())))],
    "D308": [lambda: with_estimate(lambda v: Estimate(v, np.tile(v, (9, 1))))],
    "D309": [lambda: with_estimate(estimate_with_draws_off)],
    "D310": [
        lambda: (healthy(), belief(correlation=0.0)),
        lambda: (healthy(), belief(correlation=0.9)),
        lambda: (healthy(), belief(correlation=0.4, views=60.0)),
        lambda: judged(0.0),
    ],
}


def judged(shared: float):
    """Five judges who err independently, but on a share of the rows all together."""
    rng = np.random.default_rng(5)
    right = rng.random((1000, 5)) < np.linspace(0.6, 0.9, 5)
    hard = rng.random(1000) < shared
    right[hard] = (rng.random(hard.sum()) < 0.5)[:, None]
    y = rng.integers(0, 2, 1000)
    data = ScoreSet.from_answers(np.where(right, y[:, None], 1 - y[:, None]), y)
    data = replace(data, labels=np.where(np.arange(1000) < 30, data.labels, -1))
    return data, Answers(n_draws=5).fit(data, rng)


def test_judges_who_find_the_same_rows_hard_raise_no_warning_of_independence():
    assert "D310" not in find(*judged(0.3))
    data, fitted = judged(0.0)
    few = data.take(np.arange(500))
    assert "D310" not in find(few, fitted)


def test_copies_are_a_note_where_they_share_a_vote_and_enough_classifiers_are_left():
    (data,) = FIRES["D204"][0]()
    severities = [find(data, belief(views=views))["D204"].severity for views in (None, 2.0, 3.5)]
    assert severities == ["warning", "warning", "note"]


def test_few_labels_are_those_of_the_groups_that_are_estimated():
    """Bins of ages had labels enough, and yet every single age was named."""
    (data,) = some_groups()
    ages = np.arange(600) % 60
    data = replace(data, groups={"age": ages.astype(float)})
    asked = {"metrics": "accuracy", "method": "ensemble"}
    found = ssme.evaluate(data, by=["age:quantiles=2"], **asked)
    assert "D107" not in {warning.code for warning in found.warnings}
    assert "D107" not in {warning.code for warning in ssme.evaluate(data, by=[], **asked).warnings}
    (told,) = [d for d in ssme.evaluate(data, by=["age"], **asked).warnings if d.code == "D107"]
    assert "age=0.0 has 2" in told.reason


def test_rows_of_coarse_scores_are_no_copies():
    """Answers of few kinds coincide everywhere; the same answers copied do so more often."""
    (data,) = copied_rows()
    for coarse in (replace(healthy(), scores=np.round(healthy().scores, 1)), healthy(models=1)):
        assert "D111" not in {warning.code for warning in check_all(Case(coarse))}
    rounded = replace(data, scores=np.round(data.scores, 2))
    (found,) = (each for each in check_all(Case(rounded)) if each.code == "D111")
    assert "20 of 100 labeled rows" in found.reason


@pytest.mark.parametrize("code", [check.code for check in CHECKS])
def test_fires_where_it_should(code: str):
    for number, make in enumerate(FIRES[code]):
        warnings = find(*make())
        assert code in warnings, number
        assert any(c.isdigit() for c in warnings[code].reason) or code == "D205"


def healthy_result():
    """Healthy data with a converged fit whose posterior knows more than the pool."""
    data = healthy()
    sharp = np.exp(np.log(data.scores).sum(axis=1))
    sharp /= sharp.sum(axis=1, keepdims=True)
    fitted = belief(sharp, fits={"": Convergence(True, 9)}, is_mixture=True, correlation=0.4)
    metric = get_metric("accuracy")
    alone = ssme.evaluate(data, method="labeled", metrics="accuracy").estimates[0][0]
    (grouped,) = some_groups(40)
    weighted = replace(grouped, weights=np.linspace(1.0, 2.0, 600))
    return weighted, fitted, [metric], [alone], [alone]


def test_healthy_data_raises_no_warning_and_every_check_applied():
    answers = {o.check.code: o for o in ask_all(Case(*healthy_result()))}
    assert {code: a.reason for code, a in answers.items() if a.outcome != "fine"} == {}


def test_one_vague_classifier_and_one_of_few_votes_are_ordinary():
    data = with_model(healthy(), 1, 0.5 + 0.1 * (truth() - 0.5))
    data = with_model(data, 2, np.round(4.0 * data.scores[:, 2, 1]) / 5.0 + 0.1)
    assert not {"D209", "D210"} & set(find(data))


def test_healthy_data_of_four_classes_and_missing_scores_raises_none():
    data = healthy(classes=4)
    scores = data.scores.copy()
    scores[::20, 1] = np.nan
    assert check_all(Case(replace(data, scores=scores))) == ()


@pytest.mark.parametrize(
    ("code", "make", "why"),
    [
        ("D102", no_labels, "no labels"),
        ("D104", all_labeled, "fewer than 10"),
        ("D105", two_models, "no weights"),
        ("D201", no_labels, "fewer than 5 labels"),
        ("D203", two_models, "fewer than 3 classifiers"),
        ("D303", two_models, "does not iterate"),
        ("D304", two_models, "no mixture"),
        ("D107", two_models, "no groups"),
        ("D208", two_models, "does not compare agreement"),
        ("D209", no_labels, "fewer than 5 labels"),
        ("D305", two_models, "no estimates"),
        ("D309", two_models, "no estimates"),
        ("D306", two_models, "compares no other assumptions"),
        ("D310", two_models, "does not measure how far"),
        ("D307", two_models, "no accuracy"),
        ("D308", two_models, "no accuracy of unlabeled rows"),
    ],
)
def test_not_applicable_is_an_answer_of_its_own(code: str, make, why: str):
    (answer,) = (o for o in ask_all(Case(*make())) if o.check.code == code)
    assert answer.outcome == "not applicable"
    assert why in answer.reason


def near_copies(seed: int, spread: float, error: float, n: int = 1500):
    """Four calibrated classifiers whose log-odds differ by a small ``error``, and the classes."""
    rng = np.random.default_rng(seed)
    log_odds = spread * rng.normal(size=n)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)
    noisy = log_odds[:, None] + error * rng.normal(size=(n, 4))
    shrunk = noisy * spread**2 / (spread**2 + error**2)
    return 1.0 / (1.0 + np.exp(-shrunk)), y


@pytest.mark.parametrize(("spread", "error"), [(1.0, 0.2), (1.5, 0.35), (3.0, 0.3)])
@pytest.mark.parametrize("n_labeled", [0, 20])
def test_good_scores_of_near_copies_are_not_called_too_flat(spread, error, n_labeled):
    """Their agreement is that of one classifier; before, all three raised D208 on every seed."""
    scores, y = near_copies(0, spread, error)
    labels = np.where(np.arange(y.size) < n_labeled, y, np.nan)
    data = ScoreSet.from_arrays(scores, labels)
    result = ssme.evaluate(data, metrics="accuracy", n_draws=50)
    assert result.belief.facts.agreement_conflict > 0.7
    assert "D208" not in {warning.code for warning in result.warnings}


@pytest.mark.parametrize("conflict", [1.2, -1.2])
def test_labels_refute_what_agreement_says(conflict):
    """500 labels contradict calibrated scores made twice as sharp or flat, six do not."""
    many, few = (set(find(healthy(labeled=n), belief(conflict=conflict))) for n in (500, 6))
    assert "D208" not in many
    assert "D208" in few


def test_a_class_without_any_label_is_serious():
    data = healthy()
    labels = np.where(data.labels == 1, -1, data.labels)
    warnings = find(replace(data, labels=labels))
    assert warnings["D102"].severity == "serious"


def test_labels_that_are_no_random_sample_cannot_judge():
    result = ssme.evaluate(rare_class(balanced=True), metrics=["accuracy", "ece"])
    warnings = {warning.code: warning for warning in result.warnings}
    assert {"D104", "D201", "D301", "D306"} <= warnings.keys()
    assert result.warnings[0].code == "D104"
    assert warnings["D104"].severity == "serious"
    for code in {"D201", "D301", "D302", "D305"} & warnings.keys():
        assert "not a random sample of the rows (see D104)" in warnings[code].advice
        assert "elieve the labels" not in warnings[code].advice
        assert "trust labels" not in warnings[code].advice


def test_a_design_that_is_said_leaves_the_labels_nothing_to_contradict():
    data = rare_class(balanced=True).with_design("by_class")
    result = ssme.evaluate(data, metrics=["accuracy", "ece"])
    held = {"D104", "D201", "D209", "D301", "D302", "D305", "D307"}
    assert not held & {warning.code for warning in result.warnings}
    answers = {o.check.code: o for o in ask_all(Case(data))}
    assert "by_class" in answers["D301"].reason


def test_random_labels_of_the_same_rows_raise_none_of_it():
    result = ssme.evaluate(rare_class(balanced=False), metrics=["accuracy", "ece"])
    assert not {"D104", "D201", "D301", "D302", "D305"} & {
        warning.code for warning in result.warnings
    }


def test_unlike_rows_alone_are_a_warning_and_random_labels_are_believed():
    (unlike,) = (d for d in check_all(Case(*easy_rows_labeled())) if d.code == "D104")
    assert unlike.severity == "warning"
    warnings = find(*estimate_off())
    assert "D104" not in warnings
    assert "trust the labels" in warnings["D305"].advice


def test_labels_of_one_class_cannot_judge():
    data, *rest = estimate_off()
    labels = np.where(data.labels == 1, -1, data.labels)
    warnings = {
        warning.code: warning for warning in check_all(Case(replace(data, labels=labels), *rest))
    }
    assert "labels are of one class" in warnings["D305"].advice
    assert "believe the labels" not in warnings["D305"].advice


def test_unsure_noise_claims_nothing_and_one_inverted_classifier_leaves_agreement():
    rng = np.random.default_rng(0)
    unsure = replace(healthy(), scores=rng.dirichlet([400.0, 400.0], (600, 4)))
    (answer,) = (o for o in ask_all(Case(unsure)) if o.check.code == "D207")
    assert answer.outcome == "not applicable"
    assert "too unsure" in answer.reason
    assert "D207" not in find(*inverted())


def test_warnings_come_worst_first_and_read_as_sentences():
    warnings = check_all(Case(*inverted()))
    ranks = [("serious", "warning", "note").index(warning.severity) for warning in warnings]
    assert ranks == sorted(ranks)
    text = str(next(warning for warning in warnings if warning.code == "D203"))
    assert "'m2' correlates -0." in text
    assert "swapped" in text


def test_checks_look_at_a_bounded_number_of_rows():
    case = Case(healthy(), limits=Limits(most_rows=50))
    assert len(case.rows) == 100
    assert len(case.labeled_rows) == 50


@pytest.mark.parametrize("scale", [0.0, 5e-324, 1e-200, 1e200])
def test_extreme_weights_are_told_without_a_warning(scale: float):
    data = healthy()
    weights = np.where(data.labeled, scale, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = set(find(replace(data, weights=weights)))
    assert ("D105" in found) == (scale in (0.0, 1e200))


def test_constant_scores_are_told_without_a_warning():
    data = healthy()
    nearly = np.full_like(data.scores, 0.5)
    nearly[::7] += np.array([1e-17, -1e-17])
    for scores in (np.full_like(data.scores, 0.5), nearly, np.eye(2)[np.zeros((600, 4), int)]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert "D206" in {
                warning.code for warning in check_all(Case(replace(data, scores=scores)))
            }


def sparse_judges(share: float, copies: bool = False, guess: bool = False) -> ScoreSet:
    """Twelve judges, each of whom answers a share of 600 rows; 40 labels."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 600)
    said = {}
    for m in range(12):
        right = rng.random(600) < (0.5 if guess else 0.8)
        answers = np.where(right, truth, 1 - truth).astype(object)
        answers[rng.random(600) > share] = None
        said[f"j{m}"] = answers
    said["j0"] = np.where(truth == rng.integers(0, 2, 600), truth, 1 - truth) if guess else truth
    if copies:
        said["j2"] = said["j1"]
    return ScoreSet.from_answers(said, [int(y) if i < 40 else None for i, y in enumerate(truth)])


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_judges_who_share_few_rows_are_no_copies_and_no_strangers(share: float):
    codes = set(find(sparse_judges(share)))
    assert not codes & {"D203", "D204", "D207"}


def test_judges_who_share_many_rows_and_all_answers_are_copies():
    warnings = check_all(Case(sparse_judges(0.5, copies=True)))
    assert "'j1' and 'j2' (r = 1.0000)." in next(d.reason for d in warnings if d.code == "D204")


def test_judges_who_guess_do_not_agree_beyond_chance():
    assert "D207" in find(sparse_judges(0.5, guess=True))


def test_scores_taken_as_those_of_the_other_class_are_told_by_name():
    data = healthy()
    upside_down = ScoreSet.from_arrays(
        1.0 - data.scores[:, :, 1], [None if y < 0 else int(y) + 1 for y in data.labels]
    )
    advice = next(d.advice for d in check_all(Case(upside_down)) if d.code == "D202")
    assert "probabilities of the class 2. If they are those of 1, give positive=1" in advice


def test_a_class_that_judges_say_and_no_label_has_is_told_with_what_to_do():
    said = {"a": ["yes", "no", "perhaps", "yes", "no"] * 4, "b": ["yes", "no"] * 10}
    data = ScoreSet.from_answers(said, ["yes", "no"] * 6 + [None] * 8)
    warning = next(d for d in check_all(Case(data)) if d.code == "D102")
    assert warning.severity == "serious"
    assert (
        "No label is 'perhaps', and 4 answers are, the first that of 'a' at row 2" in warning.reason
    )
    assert "--unsure" in warning.advice


def test_a_method_that_knows_an_accuracy_exactly_is_doubted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    right = 1.0 / (1.0 + np.exp(-4.0 * (2 * y - 1) - 0.1 * rng.normal(size=300)))
    labels = np.where(np.arange(300) < 30, y, -1)
    scores = np.stack([right, rng.random(300)], axis=1)
    data = ScoreSet.from_arrays(scores, labels, unlabeled=-1)
    for method, fires in (("ppi", True), ("labeled", False), ("auto", False)):
        result = ssme.evaluate(data, method=method, metrics=["accuracy", "recall"])
        assert ("D308" in {warning.code for warning in result.warnings}) is fires, method
    always = ScoreSet.from_arrays(np.ones((300, 1)), labels, unlabeled=-1)
    result = ssme.evaluate(always, method="labeled", metrics=["accuracy", "recall"])
    assert "D308" not in {warning.code for warning in result.warnings}
