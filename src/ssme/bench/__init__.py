"""How well would each method have done on fully labeled data?"""

from ssme.bench.protocol import Protocol
from ssme.bench.runner import UnfinishedError, run_protocol
from ssme.bench.summary import (
    effective_sample_size,
    geometric_rmae,
    labels_only_curve,
    provenance,
    summarize,
)

__all__ = [
    "Protocol",
    "UnfinishedError",
    "effective_sample_size",
    "geometric_rmae",
    "labels_only_curve",
    "provenance",
    "run_protocol",
    "summarize",
]
