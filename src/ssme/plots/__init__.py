"""Pictures of an `Evaluation`: ``r.plot.<name>()``; statistics come from `ssme.results`."""

from ssme.plots.accessor import Plots
from ssme.plots.display import Plot

__all__ = ["Plot", "Plots"]
