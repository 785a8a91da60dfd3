"""Named data sets: listed truthfully, loaded, fetched only with the right content."""

import http.server
import threading

import numpy as np
import pytest

from ssme.datasets import fetch
from ssme.datasets.adult import semisynthetic_set
from ssme.datasets.registry import DATASETS, data_folder, dataset_names, load_dataset
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
    with pytest.raises(InputError, match=r"no data set 'cifar'.*cifar10"):
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


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A loopback server with small predictions in the layout of the public repository."""
    rng = np.random.default_rng(0)
    root = tmp_path / "served"
    labels = rng.integers(0, 2, 20)
    stack = rng.dirichlet([1, 1], (2, 20)).astype(np.float32)
    for model, scores in zip(("A", "B"), stack, strict=True):
        folder = root / "Small" / f"alg_{model}"
        folder.mkdir(parents=True)
        np.save(folder / "preds.npy", scores)
        np.save(folder / "labels.npy", labels)
    known = fetch.content_sum(np.stack(stack, axis=1), labels)
    monkeypatch.setitem(fetch.PUBLIC, "small", fetch.PublicPredictions("Small", ("A", "B"), known))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(root))

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_fetched_set_has_the_known_content(repository, tmp_path):
    path = fetch.fetch_dataset("small", folder=tmp_path / "data", repository=repository)
    with np.load(path, allow_pickle=False) as file:
        assert file["scores"].shape == (20, 2, 2)
        assert list(file["model_names"]) == ["A", "B"]
    with pytest.raises(InputError, match="exists already"):
        fetch.fetch_dataset("small", folder=tmp_path / "data", repository=repository)


def test_altered_content_is_refused_and_not_written(repository, tmp_path, monkeypatch):
    wrong = fetch.PublicPredictions("Small", ("A", "B"), "0" * 64)
    monkeypatch.setitem(fetch.PUBLIC, "small", wrong)
    with pytest.raises(InputError, match="nothing was written"):
        fetch.fetch_dataset("small", folder=tmp_path, repository=repository)
    assert not list(tmp_path.glob("*.npz"))


def test_absent_file_and_unknown_set(repository, tmp_path, monkeypatch):
    monkeypatch.setitem(fetch.PUBLIC, "gone", fetch.PublicPredictions("Gone", ("A",), "0"))
    with pytest.raises(InputError, match="could not be fetched"):
        fetch.fetch_dataset("gone", folder=tmp_path, repository=repository)
    with pytest.raises(InputError, match="'agnews' cannot be fetched"):
        fetch.fetch_dataset("agnews")


@pytest.mark.data
@pytest.mark.parametrize("name", list(fetch.PUBLIC))
def test_known_sum_is_that_of_the_set_in_use(name):
    with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as file:
        assert tuple(file["model_names"]) == fetch.PUBLIC[name].models
        assert fetch.content_sum(file["scores"], file["y"]) == fetch.PUBLIC[name].sha256
