"""The protocol engine: how well would each method have done on fully labeled data?"""

from ssme.bench.protocol import Cell, Protocol, Scene, Split, Trial, seen_rows, split_rows
from ssme.bench.runner import Runner, Study, StudyTables, UnfinishedError, run_protocol, run_studies
from ssme.bench.store import CellStore
from ssme.bench.summary import (
    effective_sample_size,
    geometric_rmae,
    labels_only_curve,
    provenance,
    summarize,
)

__all__ = [
    "Cell",
    "CellStore",
    "Protocol",
    "Runner",
    "Scene",
    "Split",
    "Study",
    "StudyTables",
    "Trial",
    "UnfinishedError",
    "effective_sample_size",
    "geometric_rmae",
    "labels_only_curve",
    "provenance",
    "run_protocol",
    "run_studies",
    "seen_rows",
    "split_rows",
    "summarize",
]
