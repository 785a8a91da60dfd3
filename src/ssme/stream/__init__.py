"""Evaluation of data larger than memory."""

from ssme.stream.evaluation import evaluate_parquet

__all__ = ["evaluate_parquet"]
