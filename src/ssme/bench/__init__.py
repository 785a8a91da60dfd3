"""The protocol engine: how well would each method have done on fully labeled data?"""

from ssme.bench.effective import effective_sample_size, labels_only_curve
from ssme.bench.protocol import Cell, Protocol, Split, split_rows
from ssme.bench.runner import Runner, run_protocol
from ssme.bench.summary import geometric_rmae, summarize

__all__ = [
    "Cell",
    "Protocol",
    "Runner",
    "Split",
    "effective_sample_size",
    "geometric_rmae",
    "labels_only_curve",
    "run_protocol",
    "split_rows",
    "summarize",
]
