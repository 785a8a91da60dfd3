"""Real classifier sets for tests and benchmarks, found through ``SSME_DATA``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path:
    """``SSME_DATA``, by default the folder ``shared/data`` beside the checkout."""
    return Path(os.environ.get("SSME_DATA", ROOT.parent / "shared" / "data")).resolve()


def available() -> bool:
    return (data_folder() / "civilcomments.npz").exists()


def set_names() -> list[str]:
    return sorted(path.stem for path in data_folder().glob("*.npz"))


def load_set(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Scores (n, M, K), labels (n,) and model names of one set."""
    with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as file:
        scores = file["scores"].astype(np.float64)
        return scores, file["y"].astype(np.int64), [str(m) for m in file["model_names"]]


def golden_runs() -> list[dict[str, Any]]:
    """What the paper's public code returned on fixed rows of those sets."""
    path = data_folder().parent / "golden" / "reference_runs.json"
    runs: list[dict[str, Any]] = json.loads(path.read_text())
    return runs
