"""Tables as frames and as text, whatever the names are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.made_sets import UNPRINTABLE, binary_set

import ssme
from ssme.errors import InputError
from ssme.results.table import LIBRARIES, build_frame


@pytest.fixture(scope="module")
def unprintable() -> ssme.Evaluation:
    return ssme.evaluate(
        binary_set(UNPRINTABLE, n=60), method="ensemble", metrics="accuracy", n_draws=5
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_take_any_name(unprintable: ssme.Evaluation, library: str) -> None:
    frame = unprintable.frame(library)
    assert len(frame) == len(UNPRINTABLE)
    assert len(set(map(str, frame["model"]))) == len(UNPRINTABLE)


def test_text_has_no_terminal_codes(unprintable: ssme.Evaluation) -> None:
    shown = (
        repr(unprintable),
        unprintable._repr_html_(),
        repr(unprintable.compare()),
        unprintable.compare()._repr_html_(),
        repr(unprintable.ranking()),
        unprintable.ranking()._repr_html_(),
    )
    for text in shown:
        assert not {c for c in text if c < " " and c != "\n"}
        assert "\x9b" not in text
        text.encode("utf-8")


def test_json_keeps_names_whole(unprintable: ssme.Evaluation, tmp_path: Path) -> None:
    unprintable.to_json(tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert {row["model"] for row in found["estimates"]} == set(UNPRINTABLE)
    unprintable.report(tmp_path / "s.json")
    whole = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert {row["model"] for row in whole["estimates"]} == set(UNPRINTABLE)


def test_unknown_library_is_refused() -> None:
    with pytest.raises(InputError, match="library must be one of"):
        build_frame({"a": [1]}, "numpy")
