"""Fetching: the known content or nothing, whatever the server does."""

import http.server
import io
import struct
import threading
import time

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


class Misbehaving(http.server.BaseHTTPRequestHandler):
    """Answers every request as the test's ``behave(self)`` says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.close_connection = True
        self.server.behave(self)

    def log_message(self, *args):
        pass

    def answer(self, content, *, announced=None, kind="application/octet-stream"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if announced is not None:
            self.send_header("Content-Length", str(announced))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def fetched_from(tmp_path, monkeypatch):
    """``fetched_from(behave, **limits)``: the error of a fetch from a server that behaves so."""
    public = fetch.PublicPredictions("Small", ("A",), "0" * 64)
    monkeypatch.setitem(fetch.PUBLIC, "small", public)
    servers = []

    def attempt(behave, **limits):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving)
        server.behave, server.daemon_threads, server.block_on_close = behave, True, False
        server.handle_error = lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        address = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(InputError) as caught:
            fetch.fetch_dataset(
                "small", folder=tmp_path, repository=address, limits=fetch.FetchLimits(**limits)
            )
        assert address in str(caught.value)
        assert not list(tmp_path.iterdir())
        return str(caught.value)

    yield attempt
    for server in servers:
        server.shutdown()
        server.server_close()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


SCORES = npy(np.full((20, 2), 0.5))


def test_a_web_page_is_no_array(fetched_from):
    page = b"<!doctype html><title>log in</title>"
    told = fetched_from(lambda r: r.answer(page, announced=len(page), kind="text/html"))
    assert "answered with a web page" in told
    assert "something else" in fetched_from(lambda r: r.answer(b"PK", announced=2))
    assert "something else" in fetched_from(lambda r: r.answer(b"", announced=0))


@pytest.mark.parametrize("kept", [0, 1, 100, len(SCORES) - 1])
def test_a_body_that_is_cut_off_is_refused(fetched_from, kept):
    told = fetched_from(lambda r: r.answer(SCORES[:kept], announced=len(SCORES)))
    assert f"{kept} of {len(SCORES)} bytes came" in told


def test_a_body_that_is_cut_off_unannounced_is_refused(fetched_from):
    assert "claims the shape" in fetched_from(lambda r: r.answer(SCORES[:-8]))


def test_a_chunked_body_that_is_cut_off_is_refused(fetched_from):
    def behave(request):
        request.send_response(200)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        request.wfile.write(b"80\r\n" + SCORES[:50])

    assert "could not be fetched (IncompleteRead" in fetched_from(behave)


def test_a_dropped_connection_is_told(fetched_from):
    def behave(request):
        linger = struct.pack("ii", 1, 0)
        request.connection.setsockopt(1, 13, linger)  # SO_LINGER: reset on close

    assert "could not be fetched" in fetched_from(behave)


@pytest.mark.parametrize("announced", [None, 10**9])
def test_a_body_without_end_is_refused(fetched_from, announced):
    def behave(request):
        request.answer(b"", announced=announced)
        for _ in range(1000):
            request.wfile.write(bytes(10_000))

    assert "more than 50,000 bytes" in fetched_from(behave, file_bytes=50_000)


def test_a_body_that_comes_drop_by_drop_is_given_up(fetched_from):
    def behave(request):
        request.answer(b"", announced=10_000)
        for _ in range(1000):
            request.wfile.write(b"x")
            request.wfile.flush()
            time.sleep(0.01)

    assert "the time is up" in fetched_from(behave, seconds=0.2)


def test_a_silent_server_is_given_up(fetched_from):
    told = fetched_from(lambda request: time.sleep(5), silent_seconds=0.2)
    assert "could not be fetched" in told


def test_a_redirection_to_a_file_is_refused(fetched_from):
    def behave(request):
        request.send_response(302)
        request.send_header("Location", "file:///etc/hostname")
        request.send_header("Content-Length", "0")
        request.end_headers()

    assert "could not be fetched" in fetched_from(behave)


def test_an_address_that_is_no_web_address_is_refused(tmp_path):
    with pytest.raises(InputError, match="https://"):
        fetch.fetch_dataset("civilcomments", folder=tmp_path, repository="file:///tmp")


def with_header(text):
    header = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


@pytest.mark.parametrize(
    "content",
    [
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**12, 10**6), }"),
        with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"),
        with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + bytes(8),
        with_header("{'descr': '<f8', 'shape': 3"),
        with_header("__import__('os').abort()"),
        b"\x93NUMPY\x09\x09" + bytes(50),
        b"\x93NUMPY",
        npy(np.zeros(3)) + b"more",
    ],
)
def test_an_array_that_lies_about_itself_is_refused(fetched_from, content):
    assert "the array at" in fetched_from(lambda r: r.answer(content, announced=len(content)))


def test_arrays_that_do_not_belong_together_are_refused(fetched_from, monkeypatch):
    public = fetch.PublicPredictions("Small", ("A", "B"), "0" * 64)
    monkeypatch.setitem(fetch.PUBLIC, "small", public)

    def behave(request):
        content = npy(np.zeros((20 if "alg_A" in request.path else 19, 2)))
        request.answer(content, announced=len(content))

    assert "putting the files of" in fetched_from(behave)
