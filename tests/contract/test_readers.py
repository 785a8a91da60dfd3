"""Every way in gives the same `ScoreSet` for the same data, and what goes out comes back in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.written import list_columns, write_table

from ssme.data import ScoreSet
from ssme.data.readers.sources import READERS

LIBRARIES = ("pandas", "polars", "pyarrow")
KINDS: dict[str, tuple[Any, ...]] = {
    "integers": (0, 1),
    "booleans": (False, True),
    "text": ("ham", "spam"),
    "many integers": (0, 1, 2, 3),
    "codes": (10, 20, 30),
    "many texts": ("news, world", "sport:ball", "été"),
}


def example(classes: tuple[Any, ...], *, seed: int = 0, n: int = 9, m: int = 3) -> ScoreSet:
    """A set with holes in scores, labels and groups."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(len(classes)), size=(n, m))
    scores[rng.integers(n), rng.integers(m)] = np.nan
    labels = np.array([classes[k] for k in rng.integers(0, len(classes), n)], dtype=object)
    labels[rng.random(n) < 0.4] = None
    groups = np.array(rng.choice(["x", "y"], n), dtype=object)
    groups[0] = None
    return ScoreSet.from_arrays(
        scores,
        labels,
        models=[f"model {i}" for i in range(m)],
        classes=classes,
        weights=rng.random(n),
        groups={"site": groups, "part": rng.integers(0, 3, n)},
        ids=[f"r{i}" for i in range(n)],
    )


def assert_same(actual: ScoreSet, expected: ScoreSet) -> None:
    assert_allclose(actual.scores, expected.scores, rtol=0, atol=1e-15)
    assert_array_equal(actual.labels, expected.labels)
    assert actual.models == expected.models
    assert actual.classes == expected.classes
    assert [type(c) for c in actual.classes] == [type(c) for c in expected.classes]
    assert list(actual.groups) == list(expected.groups)
    for name, values in expected.groups.items():
        assert actual.groups[name].tolist() == values.tolist()
    assert (actual.weights is None) == (expected.weights is None)
    if actual.weights is not None and expected.weights is not None:
        assert_allclose(actual.weights, expected.weights, rtol=1e-15)
    assert actual.ids is not None
    assert expected.ids is not None
    assert actual.ids.tolist() == expected.ids.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [suffix for suffix in READERS if suffix != ".npy"])
def test_every_reader(suffix: str, kind: str, tmp_path: Path) -> None:
    data = example(KINDS[kind])
    path = tmp_path / f"scores{suffix}"
    told = {} if write(data, path) else {"classes": data.classes}
    assert_same(ScoreSet.read(path, **told), data)


def write(data: ScoreSet, path: Path) -> bool:
    """Write a set; whether `ScoreSet.save` did it, which also keeps the classes."""
    if path.suffix in (".csv", ".tsv", ".parquet", ".npz"):
        data.save(path)
        return True
    write_table(list_columns(data.to_frame()), path)
    return False


def test_the_reader_of_bare_arrays(tmp_path: Path) -> None:
    data = example((0, 1, 2))
    np.save(tmp_path / "scores.npy", data.scores)
    again = ScoreSet.read(
        tmp_path / "scores.npy",
        data.label_values,
        models=data.models,
        weights=data.weights,
        groups=data.groups,
        ids=data.ids,
    )
    assert_same(again, data)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_frame_library_and_layout(library: str, layout: str, kind: str) -> None:
    data = example(KINDS[kind]).replace(frame_library=library)
    frame = data.to_frame(layout)
    assert type(frame).__module__.startswith(library)
    again = ScoreSet.from_frame(frame, classes=data.classes)
    assert again.frame_library == library
    assert_same(again, data)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 12),
    m=st.integers(2, 4),
    classes=st.sampled_from(sorted(KINDS.values(), key=str)),
    library=st.sampled_from(LIBRARIES),
)
def test_layouts_agree(seed: int, n: int, m: int, classes: tuple[Any, ...], library: str) -> None:
    data = example(classes, seed=seed, n=n, m=m).replace(frame_library=library)
    wide = ScoreSet.from_frame(data.to_frame("wide"), classes=classes)
    long = ScoreSet.from_frame(data.to_frame("long"), classes=classes, models=data.models)
    assert_same(wide, data)
    assert_same(long, data)
    order = np.random.default_rng(seed).permutation(n)
    assert_same(ScoreSet.from_frame(data.take(order).to_frame(), classes=classes), data.take(order))


@pytest.mark.parametrize(
    "call",
    [
        "ssme.ScoreSet.from_arrays(numpy.full((3, 2), 0.5), [0, 1, numpy.nan])",
        "ssme.evaluate(sample_path(), 'label', n_draws=20)",
    ],
)
def test_arrays_and_small_files_need_no_library_of_frames(call: str) -> None:
    code = (
        f"import sys, numpy, ssme; from ssme.sample import sample_path; {call};"
        "print([m for m in ('pandas', 'narwhals', 'pyarrow', 'polars', 'sklearn')"
        " if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
