"""How well would each method have done on fully labeled data?"""

from ssme.bench.protocol import Protocol
from ssme.bench.runner import run_protocol
from ssme.bench.summary import summarize

__all__ = ["Protocol", "run_protocol", "summarize"]
