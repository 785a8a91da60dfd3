"""SSME against SSME-M: does it help to fit all classifiers together?

SSME-M fits the same mixture to one classifier at a time. The paper finds SSME better throughout;
here from the runs of the main tables, with the ensemble, which fits nothing, beside them.
``gain`` is the error of SSME-M over that of SSME on the same runs.
"""

from __future__ import annotations

from benchmarks.accuracy.main_tables import RUNS, run_main_cells
from benchmarks.charts import draw_bars_by_labels as draw_figure
from benchmarks.experiment import Setup, save, start
from ssme.bench import summarize

METHODS = ["ssme", "ssme_m", "ensemble"]
CELL = ["dataset", "metric", "n_labeled"]


def main(setup: Setup) -> None:
    table = run_main_cells(setup)
    summary = summarize(table[table["method"].isin(METHODS)])
    mae = summary.pivot(index=CELL, columns="method", values="mae")
    gain = (mae["ssme_m"] / mae["ssme"]).rename("gain")
    result = summary.drop(columns=["subset", "group"]).join(gain, on=CELL)
    save(result, setup, draw_figure)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
