"""Fetch the paper's own predictions from its public repository, checked against a known sum.

One ``preds.npy`` (n, K) per classifier and one ``labels.npy`` (n,), stacked to ``scores`` (n, M, K)
and written as ``NAME.npz`` into the data folder. The SHA-256 sum of the stacked scores and labels
must be the one known here; anything else is refused and nothing is written.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets.registry import data_folder
from ssme.errors import InputError, make_unknown_name_error
from ssme.writing import open_whole

REPOSITORY = "https://raw.githubusercontent.com/divyashan/SSME/58219e3dc60fedcdc4edd4c69d0483bef483b058/inputs"
FILE_BYTES, SILENT_SECONDS = 1 << 28, 30.0
"""The most that is read of a file, and waited for a server that says nothing."""


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


def fetch_dataset(name: str, *, folder: Path | None = None, repository: str = REPOSITORY) -> Path:
    """Download one of `PUBLIC` into ``folder``, by default the data folder; the file written.

    A file that is there already, and content other than the known one, are refused.
    """
    if name not in PUBLIC:
        raise make_unknown_name_error("public data set", name, PUBLIC)
    target = (folder or data_folder()) / f"{name}.npz"
    if target.exists():
        raise InputError(f"{target} exists already", hint="delete it first to fetch it again")
    public = PUBLIC[name]
    base = f"{repository}/{public.folder}"
    try:
        found = [_fetch_array(f"{base}/alg_{model}/preds.npy") for model in public.models]
        scores = np.stack(found, axis=1).astype(np.float32)
        labels = _fetch_array(f"{base}/alg_{public.models[0]}/labels.npy").astype(np.int64)
    except (OSError, EOFError, ValueError, MemoryError, http.client.HTTPException) as error:
        raise InputError(
            f"{base} could not be fetched ({type(error).__name__}: {error})",
            hint="check the network, or put the set into the folder SSME_DATA by hand",
        ) from error
    checksum = compute_checksum(scores, labels)
    if checksum != public.sha256:
        raise InputError(
            f"the fetched predictions of {name!r} have the sum {checksum}, not {public.sha256}",
            hint="nothing was written; the repository changed, or something altered it on the way",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_whole(target) as file:
        np.savez_compressed(file, scores=scores, y=labels, model_names=np.array(public.models))
    return target


def _fetch_array(address: str) -> NDArray[Any]:
    """The NumPy array at ``address``; one that is larger than allowed is cut off and refused."""
    with urllib.request.urlopen(address, timeout=SILENT_SECONDS) as answer:
        array: NDArray[Any] = np.load(io.BytesIO(answer.read(FILE_BYTES)), allow_pickle=False)
    return array
