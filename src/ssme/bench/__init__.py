"""The protocol engine: how well would each method have done on fully labeled data?"""

from ssme.bench.cells import Cell, Scene, Trial, seen_rows
from ssme.bench.effective import effective_sample_size, labels_only_curve
from ssme.bench.protocol import Protocol
from ssme.bench.runner import Runner
from ssme.bench.splits import Split, split_rows
from ssme.bench.store import CellStore
from ssme.bench.studies import Study, StudyTables, UnfinishedError, run_protocol, run_studies
from ssme.bench.summary import geometric_rmae, provenance, summarize

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
