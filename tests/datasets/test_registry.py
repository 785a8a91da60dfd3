"""Named data sets: listed truthfully, and loaded."""

import numpy as np
import pytest
from benchmarks.datasets.adult import semisynthetic_set
from benchmarks.datasets.registry import DATASETS, dataset_names, load_dataset

from ssme.errors import InputError


def test_every_entry_says_where_it_comes_from():
    for name, entry in DATASETS.items():
        assert entry.name == name
        assert entry.source
        assert entry.licence
        assert entry.obtain
        assert entry.kind in {"file", "made", "own"}


@pytest.mark.parametrize("name", dataset_names("own"))
def test_sets_that_are_not_public_take_the_users_own_file(name, tmp_path):
    with pytest.raises(InputError, match=f"predictions of '{name}' are not public"):
        load_dataset(name)
    path = tmp_path / "mine.csv"
    path.write_text("label,a,b\n1,0.9,0.8\n0,0.2,0.4\n")
    assert load_dataset(name, path).n_rows == 2


def test_unknown_name():
    with pytest.raises(InputError, match=r"unknown data set 'cifar'.*cifar10"):
        load_dataset("cifar")


def test_missing_file_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SSME_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"cifar10.npz does not exist.*SSME_DATA"):
        load_dataset("cifar10")


def test_gaussian_set_is_made_on_the_spot():
    data = load_dataset("gaussian")
    assert data.n_unlabeled == 0
    assert data.n_classes == 2


@pytest.mark.data
def test_every_file_loads_fully_labeled():
    for name in dataset_names("file"):
        data = load_dataset(name)
        assert data.n_unlabeled == 0
        assert data.n_models >= 2


def test_adult_needs_its_files(monkeypatch, tmp_path):
    monkeypatch.setenv("SSME_ADULT", str(tmp_path))
    with pytest.raises(InputError, match=r"adult.data, adult.test not found.*SSME_ADULT"):
        semisynthetic_set(0)


def test_semisynthetic_sets_differ_and_bend(monkeypatch, tmp_path):
    write_people(tmp_path)
    monkeypatch.setenv("SSME_ADULT", str(tmp_path))
    plain, sharp, other = (
        semisynthetic_set(0, n_train=60),
        semisynthetic_set(0, bend=3.0, n_train=60),
        semisynthetic_set(1, n_train=60),
    )
    assert plain.n_models == 3
    confidence = [np.abs(s.scores[:, :, 1] - 0.5).mean() for s in (plain, sharp)]
    assert confidence[1] > confidence[0]
    assert not np.array_equal(plain.scores[:50], other.scores[:50])


def write_people(folder):
    """Two small files in the layout of UCI Adult, income depending on age and hours."""
    rng = np.random.default_rng(0)
    for name, head in (("adult.data", ""), ("adult.test", "|1x3 Cross validator\n")):
        rows = []
        for _ in range(600):
            age, hours = int(rng.integers(18, 80)), int(rng.integers(10, 70))
            rich = rng.random() < 1 / (1 + np.exp(-(age - 45) / 10 - (hours - 40) / 10))
            rows.append(
                f"{age}, Private, 1, Bachelors, 13, Never-married, Sales, Husband, White, Male, "
                f"0, 0, {hours}, United-States, {'>50K' if rich else '<=50K'}"
            )
        (folder / name).write_text(head + "\n".join(rows) + "\n")
