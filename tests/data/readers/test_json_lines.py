"""JSON Lines: keys are columns, nothing is lost, and what is no table is refused with its line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ssme.data import ScoreSet
from ssme.errors import InputError


def written(folder: Path, *lines: object, name: str = "s.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{x if isinstance(x, str) else json.dumps(x)}\n" for x in lines))
    return path


def test_keys_are_columns_and_a_missing_key_is_a_missing_value(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"id": 2**60 + 1, "bert": 0.25, "label": "spam", "group_site": "a"},
        "",
        {"gpt": 0, "bert": None, "label": "ham", "id": 3, "group_site": None},
        {"id": 4, "bert": 1, "gpt": 0.5},
    )
    data = ScoreSet.read(path, positive="spam")
    assert data.models == ("bert", "gpt")
    assert_array_equal(data.scores[:, 0, 1], [0.25, np.nan, 1.0])
    assert_array_equal(data.scores[:, 1, 1], [np.nan, 0.0, 0.5])
    assert data.ids.tolist() == [2**60 + 1, 3, 4]
    assert data.label_values.tolist() == ["spam", "ham", None]
    assert data.groups["site"].tolist() == ["a", None, None]


def test_a_list_of_objects_is_read_as_lines_are(tmp_path: Path) -> None:
    rows = [{"id": i, "bert": i / 9, "net": {"a": 0.5}, "label": i % 2} for i in range(9)]
    lines = ScoreSet.read(written(tmp_path, *rows))
    listed = ScoreSet.read(written(tmp_path, json.dumps(rows, indent=2), name="s.json"))
    assert listed.models == lines.models == ("bert", "net:a")
    assert_array_equal(listed.scores, lines.scores)
    assert_array_equal(listed.labels, lines.labels)
    with pytest.raises(InputError, match=r"s.json, item 2, is 7, not an object"):
        ScoreSet.read(written(tmp_path, json.dumps([rows[0], 7]), name="s.json"))
    with pytest.raises(InputError, match=r"s.json, the file, is not JSON"):
        ScoreSet.read(written(tmp_path, json.dumps(rows)[:-1], name="s.json"))


def test_scores_by_class_as_objects_and_as_lists_are_the_same(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).dirichlet(np.ones(3), (6, 2)).round(6)
    scores /= scores.sum(axis=2, keepdims=True)
    classes, labels = ["cat", "dog", "emu"], ["cat", "dog", "emu", None, None, "dog"]
    by_name, by_place = (
        [
            {"label": label}
            | {
                model: dict(zip(classes, map(float, row[m]), strict=True))
                if named
                else [*map(float, row[m])]
                for m, model in enumerate(("net", "tree"))
            }
            for label, row in zip(labels, scores, strict=True)
        ]
        for named in (True, False)
    )
    named = ScoreSet.read(written(tmp_path, *by_name))
    listed = ScoreSet.read(written(tmp_path, *by_place, name="b.ndjson"), classes=classes)
    assert named.classes == listed.classes == tuple(classes)
    assert named.models == listed.models == ("net", "tree")
    assert_allclose(named.scores, scores, atol=1e-12)
    assert_array_equal(named.scores, listed.scores)
    assert_array_equal(named.labels, listed.labels)


def test_a_table_of_holes_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    path = written(tmp_path, *({f"k{i}": 1} for i in range(5_000)))
    with pytest.raises(InputError, match=r"5,000 keys in 5,000 lines"):
        ScoreSet.read(path)


@pytest.mark.parametrize(
    "nest",
    [
        lambda p: {"bert": p, "gpt": p / 4},
        lambda p: {"run": {"bert": p, "gpt": p / 4}},
        lambda p: {"runs": [{"model": "bert", "score": p}, {"model": "gpt", "score": p / 4}]},
        lambda p: {
            "runs": [{"name": "bert", "out": {"p": p}}, {"name": "gpt", "out": {"p": p / 4}}]
        },
    ],
)
def test_objects_inside_objects_and_lists_of_them_are_columns(tmp_path: Path, nest) -> None:
    scores = [0.125, 0.75, 0.5, 0.875]
    rows = [{"out": nest(p), "label": i % 2} for i, p in enumerate(scores)]
    data = ScoreSet.read(written(tmp_path, *rows))
    assert ["bert" in name for name in data.models] == [True, False]
    assert_array_equal(data.scores[:, 0, 1], scores)
    assert_array_equal(data.scores[:, 1, 1], [p / 4 for p in scores])
