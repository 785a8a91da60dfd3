"""Fetching: the known content or nothing, whatever the server does."""

import http.server
import socket
import struct
import threading

import numpy as np
import pytest
from benchmarks.datasets import fetch
from benchmarks.datasets.registry import data_folder

from ssme.errors import InputError


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
    known = fetch.compute_checksum(np.stack(stack, axis=1), labels)
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
    with pytest.raises(InputError, match=r"(?i)nothing was written"):
        fetch.fetch_dataset("small", folder=tmp_path, repository=repository)
    assert not list(tmp_path.glob("*.npz"))


def test_absent_file_and_unknown_set(repository, tmp_path, monkeypatch):
    monkeypatch.setitem(fetch.PUBLIC, "gone", fetch.PublicPredictions("Gone", ("A",), "0"))
    with pytest.raises(InputError, match="could not be fetched"):
        fetch.fetch_dataset("gone", folder=tmp_path, repository=repository)
    with pytest.raises(InputError, match="unknown public data set 'agnews'"):
        fetch.fetch_dataset("agnews")


@pytest.mark.data
@pytest.mark.parametrize("name", list(fetch.PUBLIC))
def test_known_sum_is_that_of_the_set_in_use(name):
    with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as file:
        assert tuple(file["model_names"]) == fetch.PUBLIC[name].models
        assert fetch.compute_checksum(file["scores"], file["y"]) == fetch.PUBLIC[name].sha256


def with_header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"<!doctype html><title>log in</title>",
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**12, 10**6), }\n"),
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (20, 2), }\n") + bytes(9),
        with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n") + bytes(8),
        with_header("__import__('os').abort()\n"),
    ],
)
def test_what_is_no_array_is_refused_and_not_written(repository, tmp_path, content):
    (tmp_path / "served" / "Small" / "alg_B" / "preds.npy").write_bytes(content)
    with pytest.raises(InputError, match="could not be fetched"):
        fetch.fetch_dataset("small", folder=tmp_path, repository=repository)
    assert not list(tmp_path.glob("*.npz"))


def test_a_file_above_the_limit_is_refused(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "FILE_BYTES", 200)
    with pytest.raises(InputError, match="could not be fetched"):
        fetch.fetch_dataset("small", folder=tmp_path, repository=repository)


def test_a_server_that_says_nothing_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "SILENT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(InputError, match="could not be fetched"):
            fetch.fetch_dataset("multinli", folder=tmp_path, repository=address)
