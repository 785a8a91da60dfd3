"""Fetch the paper's own predictions from its public repository, checked against a known sum.

One ``preds.npy`` (n, K) per classifier and one ``labels.npy`` (n,), stacked to ``scores`` (n, M, K)
and written as ``NAME.npz`` into the data folder. The SHA-256 sum of the stacked scores and labels
must be the one known here; anything else is refused and nothing is written.

Whoever answers is not trusted before that: no more is read than `Limits` allow, for no longer, and
an answer that is cut off, is no NumPy array or claims to be a larger one than it is, is refused.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import math
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets.registry import data_folder
from ssme.errors import InputError, make_unknown_name_error, translate_foreign_errors
from ssme.writing import open_whole

REPOSITORY = "https://raw.githubusercontent.com/divyashan/SSME/58219e3dc60fedcdc4edd4c69d0483bef483b058/inputs"


PIECE = 1 << 16
BY_HAND = "try again later, or put the set into the folder SSME_DATA by hand"


@dataclass(frozen=True)
class FetchLimits:
    """The most that a fetch may take.

    ``seconds`` are for all files of a set together, ``silent_seconds`` without any answer.
    """

    file_bytes: int = 1 << 28
    seconds: float = 900.0
    silent_seconds: float = 30.0


@dataclass(frozen=True)
class PublicPredictions:
    """Where the predictions of one set lie, and the sum their content must have."""

    folder: str
    models: tuple[str, ...]
    sha256: str


PUBLIC = {
    "civilcomments": PublicPredictions(
        "CivilComments",
        ("CORAL", "ERM", "IRM", "ERM_seed1", "ERM_seed2", "IRM_seed1", "IRM_seed2"),
        "076925b3d51e5e068ce826e97e95c2414cfb0617c19f2e769df003d0ad11d46b",
    ),
    "civilcomments_coral_seeds": PublicPredictions(
        "CivilComments",
        ("CORAL_seed1", "CORAL_seed2"),
        "68b532d596ae280e492292cae60f74c6fdbf1c945da5f8366fc54fe824271370",
    ),
    "multinli": PublicPredictions(
        "MultiNLI",
        ("IRM", "ReSample", "ReWeight", "SqrtReWeight"),
        "4796056111b1e33201306a5d5fd6e8e4fc732d23ab490eec848dd6ad60e893d4",
    ),
}


def compute_checksum(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> str:
    """SHA-256 of little-endian float32 scores followed by int64 labels."""
    digest = hashlib.sha256(np.ascontiguousarray(scores, dtype="<f4").tobytes())
    digest.update(np.ascontiguousarray(labels, dtype="<i8").tobytes())
    return digest.hexdigest()


def fetch_dataset(
    name: str,
    *,
    folder: Path | None = None,
    repository: str = REPOSITORY,
    limits: FetchLimits | None = None,
) -> Path:
    """Download one of `PUBLIC` into ``folder``, by default the data folder; the file written.

    A file that is there already, and content other than the known one, are refused.
    """
    if name not in PUBLIC:
        raise make_unknown_name_error("public data set", name, PUBLIC)
    target = (folder or data_folder()) / f"{name}.npz"
    if target.exists():
        raise InputError(f"{target} exists already", hint="delete it first to fetch it again")
    public, limits = PUBLIC[name], limits or FetchLimits()
    base, end = f"{repository}/{public.folder}", time.monotonic() + limits.seconds
    addresses = [f"{base}/alg_{model}/preds.npy" for model in public.models]
    arrays = [_fetch_array(address, limits, end) for address in addresses]
    labels = _fetch_array(f"{base}/alg_{public.models[0]}/labels.npy", limits, end)
    with translate_foreign_errors(f"putting the files of {base} together", hint=BY_HAND):
        scores = np.stack(arrays, axis=1).astype(np.float32)
        labels = labels.astype(np.int64)
    found = compute_checksum(scores, labels)
    if found != public.sha256:
        raise InputError(
            f"the fetched predictions of {name!r} have the sum {found}, not {public.sha256}",
            hint="nothing was written; the repository changed, or something altered it on the way",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_whole(target) as file:
        np.savez_compressed(file, scores=scores, y=labels, model_names=np.array(public.models))
    return target


def _fetch_array(address: str, limits: FetchLimits, end: float) -> NDArray[Any]:
    """The NumPy array at ``address``."""
    content = _fetch_content(address, limits, end)
    if not content.startswith(b"\x93NUMPY"):
        page = content.lstrip()[:1] == b"<"
        raise InputError(
            f"{address} answered with "
            + ("a web page" if page else "something else")
            + ", not an array",
            hint=f"check whether the network asks for a login; {BY_HAND}",
        )
    with translate_foreign_errors(f"reading the array at {address}", hint=BY_HAND):
        file = io.BytesIO(content)
        version = np.lib.format.read_magic(file)
        read_header = getattr(np.lib.format, f"read_array_header_{version[0]}_{version[1]}")
        shape, fortran, dtype = read_header(file)
        held = len(content) - file.tell()
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != held:
            raise InputError(
                f"the array at {address} claims the shape {shape} of {dtype} and has {held} bytes",
                hint=BY_HAND,
            )
        flat: NDArray[Any] = np.frombuffer(content, dtype, offset=file.tell())
        return flat.reshape(shape, order="F" if fortran else "C")


def _fetch_content(address: str, limits: FetchLimits, end: float) -> bytes:
    """All that the server sends, which has to be what it announced."""
    if not address.startswith(("https://", "http://")):
        raise InputError(f"the address {address} does not begin with https://")
    content = bytearray()
    try:
        with urllib.request.urlopen(address, timeout=limits.silent_seconds) as answer:
            told = answer.headers.get("Content-Length", "")
            announced = int(told) if told.isdigit() else None
            if announced is not None:
                _refuse_large(address, announced, limits)
            while piece := answer.read1(PIECE):
                content += piece
                _refuse_large(address, len(content), limits)
                if time.monotonic() > end:
                    raise InputError(
                        f"{address} has sent {len(content):,} bytes and the time is up: "
                        f"{limits.seconds:g} seconds for all files of a set",
                        hint=BY_HAND,
                    )
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise InputError(
            f"{address} could not be fetched ({type(error).__name__}: {error})",
            hint=f"check the network; {BY_HAND}",
        ) from error
    if announced is not None and len(content) != announced:
        raise InputError(
            f"{address} was cut off: {len(content):,} of {announced:,} bytes came", hint=BY_HAND
        )
    return bytes(content)


def _refuse_large(address: str, size: int, limits: FetchLimits) -> None:
    if size > limits.file_bytes:
        raise InputError(
            f"{address} sends more than {limits.file_bytes:,} bytes",
            hint=BY_HAND,
        )
