"""The one-call path: every way in, the table out, and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, UndefinedMetricWarning, UnsupportedError
from ssme.sample import sample_path, truth_path


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    logit = (2 * y - 1)[:, None] * [1.0, 2.0, 0.5] + rng.normal(size=(300, 3))
    labels = np.where(np.arange(300) < 40, y, np.nan)
    return 1 / (1 + np.exp(-logit)), labels, y


def test_labels_only_is_the_metric_on_the_labeled_rows(arrays):
    scores, labels, _ = arrays
    frame = ssme.evaluate(scores, labels, method="ensemble", metrics="accuracy").frame()
    known = labels[:40] == (scores[:40, 1] >= 0.5)
    assert frame["labels_only"][1] == pytest.approx(known.mean())


def test_frames_go_out_as_they_came_in(arrays):
    scores, labels, _ = arrays
    frame = pl.DataFrame({"a": scores[:, 0], "label": labels})
    assert isinstance(ssme.evaluate(frame, "label", method="ensemble").frame(), pl.DataFrame)


def test_groups_stand_beside_all(arrays):
    scores, labels, _ = arrays
    sex = np.where(np.arange(300) % 3 == 0, "f", "m")
    result = ssme.evaluate(
        scores, labels, groups={"sex": sex}, method="ensemble", metrics="accuracy"
    )
    assert [g.name for g in result.groups] == ["all", "sex=f", "sex=m"]
    assert result.groups[1].n_labeled + result.groups[2].n_labeled == 40
    only = ssme.evaluate(
        scores, labels, groups={"sex": sex}, method="ensemble", metrics="accuracy", by=[]
    )
    assert [g.name for g in only.groups] == ["all"]


def test_undefined_is_nan_with_a_warning(arrays):
    scores, _, y = arrays
    group = np.where(y == 1, "only_ones", "mixed")
    group[:5] = "mixed"
    everything = np.where(np.arange(300) >= 0, y, np.nan)
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined on group 'g=only_ones'"):
        result = ssme.evaluate(
            scores, everything, groups={"g": group}, method="ensemble", metrics="roc_auc"
        )
    assert np.isnan(result.estimate("roc_auc", "g=only_ones").value).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, r"unknown method 'magic'.*Choose one of: .*ensemble"),
        ({"metrics": ["accuracy", "accuracy"]}, "metrics.* repeats accuracy"),
        ({"metrics": []}, "names no metric"),
        ({"metrics": "acuracy"}, "acuracy.*accuracy"),
        ({"level": 95}, r"level must be between 0 and 1, got 95\."),
        ({"n_draws": 0}, "n_draws must be at least 1"),
        ({"by": "sex"}, "no group column 'sex'"),
        ({"options": {"wings": 2}}, "has no option 'wings'"),
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"random_state": "x"}, "random_state must be"),
        ({"xyz": 2}, "no option 'xyz'.*Leave it out"),
        ({"label": "y"}, "no option 'label' for these scores.*Did you mean 'y'"),
        ({"method": "ssme", "n_bootstrap": 3}, "option of the method: options={'n_bootstrap'"),
    ],
)
def test_bad_requests_say_what_is_allowed(arrays, options, message):
    scores, labels, _ = arrays
    with pytest.raises(InputError, match=message):
        ssme.evaluate(scores, labels, **{"method": "ensemble", **options})


@pytest.mark.parametrize(
    ("option", "meant"), [({"seed": 1}, "random_state"), ({"metric": "f1"}, "metrics")]
)
def test_options_by_another_name_are_told_ours(arrays, tmp_path, option, meant):
    scores, labels, _ = arrays
    frame = pd.DataFrame(scores, columns=["a", "b", "c"]).assign(label=labels)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    told = f"(?s)no option '{next(iter(option))}'.*mean '{meant}'.*random_state.*models"
    for given in (
        (scores, labels),
        (frame, "label"),
        (tmp_path / "scores.csv", "label"),
        (ScoreSet.from_arrays(scores, labels),),
    ):
        with pytest.raises(InputError, match=told):
            ssme.evaluate(*given, **option)


def test_a_score_set_takes_no_further_data_options(arrays):
    scores, labels, _ = arrays
    data = ScoreSet.from_arrays(scores, labels)
    with pytest.raises(InputError, match="a ScoreSet was given together with y, models"):
        ssme.evaluate(data, labels, models=["a", "b", "c"])


@pytest.mark.parametrize(
    ("labels", "shown"),
    [(pd.DataFrame({"id": [0, 1], "label": [0, 1]}), "a DataFrame"), ([0, 1], r"\[0, 1\]")],
)
def test_labels_that_are_no_file_are_refused_as_one(arrays, labels, shown):
    with pytest.raises(InputError, match=rf"labels_file must be .*path of a file, got {shown}\."):
        ssme.evaluate(pd.DataFrame(arrays[0]), labels_file=labels)


def test_labels_needed_and_absent(arrays):
    scores, _, _ = arrays
    with pytest.raises(UnsupportedError, match="needs labels and none of the 300 rows has one"):
        ssme.evaluate(scores, classes=[0, 1], method="labeled")


def test_unasked_results_are_refused_by_name(arrays):
    scores, labels, _ = arrays
    result = ssme.evaluate(scores, labels, method="ensemble", metrics="accuracy")
    with pytest.raises(InputError, match="metric 'ece' was not evaluated"):
        result.estimate("ece")
    with pytest.raises(InputError, match="group 'men' was not evaluated"):
        result.estimate("accuracy", "men")
    with pytest.raises(InputError, match="there is no model 'z'"):
        result.model_index("z")


def test_the_bundled_sample_is_what_it_says():
    data = ScoreSet.read(sample_path(), label="label")
    truth = pd.read_csv(truth_path())
    assert (data.n_rows, data.n_models, data.n_labeled) == (1297, 6, 30)
    assert list(data.ids) == list(truth["id"])
    known = data.labels[data.labeled]
    assert (truth["label"].to_numpy()[data.labeled] == known).all()
    assert sample_path().stat().st_size + truth_path().stat().st_size < 200_000


def test_groups_hold_the_numbers_of_their_rows_in_order():
    scores = np.tile([0.2, 0.7], (6, 1))
    groups = {"site": ["b", "a", None, "b", "", "a"], "age": [3, 10, 3, 9, 10, None]}
    data = ScoreSet.from_arrays(scores, [1, 0, 1, None, 0, None], groups=groups)
    result = ssme.evaluate(data, method="ensemble", metrics="accuracy", n_draws=5)
    found = {group.name: group for group in result.groups}
    assert list(found) == [
        *("all", "site=None", "site=a", "site=b"),
        *("age=None", "age=3", "age=9", "age=10"),
    ]
    rows = {name: group.rows.tolist() for name, group in found.items() if name != "all"}
    assert rows["site=None"] == [2, 4]
    assert rows["site=b"] == [0, 3]
    assert rows["age=10"] == [1, 4]
    assert (found["site=b"].n_labeled, found["site=b"].n_unlabeled) == (1, 1)


def test_many_undefined_groups_are_not_warned_of_one_by_one():
    rng = np.random.default_rng(0)
    data = ScoreSet.from_arrays(
        rng.random((300, 2)), rng.integers(0, 2, 300), groups={"g": np.arange(300)}
    )
    with pytest.warns(UndefinedMetricWarning) as caught:
        ssme.evaluate(data, method="labeled", metrics="roc_auc", n_draws=5, max_groups=300)
    assert len(caught) == 20
    assert "280 more such values are not listed" in str(caught[-1].message)
