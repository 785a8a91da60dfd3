"""The experiments of the paper and ours on its terms: ``python -m benchmarks.accuracy NAME``.

Each is a function that `experiment` registers; its docstring says what it shows.
"""

from importlib import import_module

from benchmarks.experiment import EXPERIMENTS, Experiment


def load_experiments() -> dict[str, Experiment]:
    """All experiments by name."""
    for module in (
        "tables",
        "synthetic",
        "theory",
        "flows",
        "intervals",
        "causes",
        "votes",
        "dependencies",
    ):
        import_module(f"{__name__}.{module}")
    return EXPERIMENTS
