"""Data sets by name: where they come from, under which licence, and how to get them.

Fully labeled score sets for the benchmark. Files are looked for in ``SSME_DATA`` (by default
``../shared/data``), one ``NAME.npz`` each with ``scores`` (n, M, K), ``y``, ``model_names`` and
``group_*`` columns. Synthetic sets are made on the spot. The sets whose predictions are not public
(MIMIC-IV, OGB, the paper's AG News) take the user's own prediction file: nothing else carries
their name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, make_unknown_name_error


@dataclass(frozen=True)
class Dataset:
    """One named data set; ``kind`` says how it is got: from a "file", "made", or your "own"."""

    name: str
    title: str
    source: str
    licence: str
    obtain: str
    kind: str = "file"
    in_paper: str = ""


_PAPER_CODE = "predictions published with the paper's code (github.com/divyashan/SSME)"
_FILE = "NAME.npz in the folder SSME_DATA"
_FETCH = "NAME.npz in the folder SSME_DATA, or `python -m benchmarks.datasets --fetch NAME`"

DATASETS: dict[str, Dataset] = {
    entry.name: entry
    for entry in (
        Dataset(
            "civilcomments",
            "Toxic comments, 7 DistilBERT classifiers",
            _PAPER_CODE,
            "labels CC0; predictions without a licence file",
            _FETCH,
            in_paper="Toxicity Detection",
        ),
        Dataset(
            "multinli",
            "Textual entailment (3 classes), 4 DistilBERT classifiers",
            _PAPER_CODE,
            "predictions without a licence file",
            _FETCH,
            in_paper="MultiNLI",
        ),
        Dataset(
            "civilcomments_coral_seeds",
            "Two of the classifiers have collapsed (AUC 0.5), which makes this set hard",
            _PAPER_CODE,
            "labels CC0; predictions without a licence file",
            _FETCH,
        ),
        Dataset(
            "adult",
            "Income over 50K, 8 classifiers",
            "UCI Adult; classifiers trained for this benchmark",
            "CC BY 4.0",
            _FILE,
        ),
        Dataset(
            "adult_shift",
            "Income over 50K, 7 classifiers trained on sub-populations",
            "UCI Adult; classifiers trained for this benchmark",
            "CC BY 4.0",
            _FILE,
        ),
        Dataset(
            "agnews",
            "News topics (4 classes), 9 small classifiers (not the paper's LLM embeddings)",
            "AG News test set; classifiers trained for this benchmark",
            "non-commercial",
            _FILE,
        ),
        Dataset(
            "hiv_molecules",
            "HIV inhibition of molecules, 8 classifiers",
            "MoleculeNet HIV; classifiers trained for this benchmark",
            "MIT",
            _FILE,
        ),
        Dataset(
            "diabetes_readmit",
            "Readmission within 30 days, 8 classifiers",
            "UCI Diabetes 130-US hospitals; classifiers trained for this benchmark",
            "CC BY 4.0",
            _FILE,
        ),
        Dataset(
            "cifar10",
            "Images (10 classes), 9 pretrained networks",
            "github.com/devmotion/CalibrationPaper",
            "predictions without a licence file",
            _FILE,
        ),
        Dataset(
            "mmlupro_llm_logit",
            "Exam questions (10 options), answers of 9 LLMs with a confidence",
            "published LLM answers to MMLU-Pro",
            "MIT",
            _FILE,
        ),
        Dataset(
            "subj",
            "Subjective or objective sentences, 9 classifiers",
            "SUBJ; classifiers trained for this benchmark",
            "MIT (repository)",
            _FILE,
        ),
        Dataset(
            "dry_bean",
            "Bean varieties (7 classes), 7 classifiers",
            "UCI Dry Bean; classifiers trained for this benchmark",
            "CC BY 4.0",
            _FILE,
        ),
        Dataset(
            "adult_semisynthetic",
            "500 sets of three logistic regressions trained on people of different ages",
            "UCI Adult (archive.ics.uci.edu/dataset/2); made by benchmarks.datasets.adult",
            "CC BY 4.0",
            "adult.data and adult.test in the folder SSME_ADULT",
            kind="made",
            in_paper="appendix D, comparison to ensembling",
        ),
        Dataset(
            "gaussian",
            "The paper's theory section: class-conditional normal scores, d classifiers",
            "made on the spot by benchmarks.datasets.synthetic",
            "none needed",
            "always there",
            kind="made",
        ),
        Dataset(
            "mimic",
            "MIMIC-IV emergency department: critical outcome, revisit, admission",
            "physionet.org/content/mimiciv (credentialed access)",
            "PhysioNet Credentialed Health Data License",
            "your own predictions: one file per task, read with path=",
            kind="own",
            in_paper="Critical Outcome / ED Revisit / Hospital Admission",
        ),
        Dataset(
            "ogb",
            "SARS-CoV inhibition (ogbg-molpcba task 60), graph networks",
            "ogb.stanford.edu; predictions of the paper are not public",
            "MIT (OGB code); PubChem data",
            "your own predictions, read with path=",
            kind="own",
            in_paper="SARS-CoV Inhibition",
        ),
        Dataset(
            "agnews_llm",
            "AG News with LLM embeddings and Llama-3.2-3B, as in the paper",
            "huggingface.co/datasets/ag_news; predictions of the paper are not public",
            "non-commercial",
            "your own predictions, read with path=",
            kind="own",
            in_paper="AG News",
        ),
    )
}


def dataset_names(kind: str | None = None) -> tuple[str, ...]:
    """Names of the data sets, or of those of one kind ("file", "made" or "own")."""
    return tuple(name for name, entry in DATASETS.items() if kind in (None, entry.kind))


def data_folder() -> Path:
    """The folder that the variable ``SSME_DATA`` names; without it ``../shared/data``."""
    return Path(os.environ.get("SSME_DATA", Path("..") / "shared" / "data"))


def load_dataset(name: str, path: str | Path | None = None) -> ScoreSet:
    """A fully labeled data set by its name, read from ``path`` where it is not public.

    Where its file is not there, the error says how to get it.
    """
    if name not in DATASETS:
        raise make_unknown_name_error(
            "data set",
            name,
            DATASETS,
            "`python -m benchmarks.datasets` describes each",
        )
    entry = DATASETS[name]
    if path is not None:
        return ScoreSet.read(path)
    if entry.kind == "made":
        return _MADE[name]()
    if entry.kind == "own":
        raise InputError(
            f"the predictions of {name!r} are not public",
            hint=f"make your own (source: {entry.source}) and call "
            f"load_dataset({name!r}, path='predictions.parquet')",
        )
    file = data_folder() / f"{name}.npz"
    if not file.exists():
        raise InputError(
            f"{file} does not exist",
            hint=f"set SSME_DATA to its folder (now {data_folder()}); get it: {entry.obtain}; "
            f"source: {entry.source}",
        )
    return ScoreSet.read(file)


def _make_gaussian() -> ScoreSet:
    from benchmarks.datasets.synthetic import gaussian_set

    return gaussian_set(20_000, np.full(5, 1.0), rng=np.random.default_rng(0))


def _make_semisynthetic() -> ScoreSet:
    from benchmarks.datasets.adult import semisynthetic_set

    return semisynthetic_set(0)


_MADE: dict[str, Callable[[], ScoreSet]] = {
    "adult_semisynthetic": _make_semisynthetic,
    "gaussian": _make_gaussian,
}
