"""Fetch the paper's own predictions from its public repository, checked against a known sum.

One ``preds.npy`` (n, K) per classifier and one ``labels.npy`` (n,), stacked to ``scores`` (n, M, K)
and written as ``NAME.npz`` into the data folder. The SHA-256 sum of the stacked scores and labels
must be the one known here; anything else is refused and nothing is written.
"""

from __future__ import annotations

import hashlib
import io
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ssme.datasets.registry import data_folder
from ssme.errors import InputError

__all__ = ["PUBLIC", "PublicPredictions", "content_sum", "fetch_dataset"]

REPOSITORY = "https://raw.githubusercontent.com/divyashan/SSME/58219e3dc60fedcdc4edd4c69d0483bef483b058/inputs"


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


def content_sum(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> str:
    """SHA-256 of little-endian float32 scores followed by int64 labels."""
    digest = hashlib.sha256(np.ascontiguousarray(scores, dtype="<f4").tobytes())
    digest.update(np.ascontiguousarray(labels, dtype="<i8").tobytes())
    return digest.hexdigest()


def fetch_dataset(name: str, *, folder: Path | None = None, repository: str = REPOSITORY) -> Path:
    """Download ``name`` into ``folder`` (by default the data folder); returns the file written."""
    if name not in PUBLIC:
        raise InputError(
            f"{name!r} cannot be fetched", allowed=", ".join(PUBLIC), fix="see `ssme datasets`"
        )
    target = (folder or data_folder()) / f"{name}.npz"
    if target.exists():
        raise InputError(f"{target} exists already", fix="delete it first to fetch it again")
    public = PUBLIC[name]
    base = f"{repository}/{public.folder}"
    scores = np.stack([_array(f"{base}/alg_{m}/preds.npy") for m in public.models], axis=1)
    labels = _array(f"{base}/alg_{public.models[0]}/labels.npy").astype(np.int64)
    found = content_sum(scores.astype(np.float32), labels)
    if found != public.sha256:
        raise InputError(
            f"the fetched predictions of {name!r} have the sum {found}",
            allowed=public.sha256,
            fix="nothing was written; the repository changed, or something altered it on the way",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        target,
        scores=scores.astype(np.float32),
        y=labels,
        model_names=np.array(public.models),
    )
    return target


def _array(url: str) -> NDArray[np.generic]:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            content = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        raise InputError(
            f"{url} could not be fetched ({error})",
            fix="check the network, or put the file into SSME_DATA by hand",
        ) from error
    array: NDArray[np.generic] = np.load(io.BytesIO(content), allow_pickle=False)
    return array
