"""A run as data, lossless in both directions: `RunSpec`."""

from ssme.spec.run_spec import ENGINES, SAMPLE_ROWS, RunSpec
from ssme.spec.settling import draw_seed

__all__ = ["ENGINES", "SAMPLE_ROWS", "RunSpec", "draw_seed"]
