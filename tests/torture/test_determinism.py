"""The same seed gives the same bits: over processes, how they start, and numbers of threads.

On another processor it gives the same numbers to 1e-9.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme

CODE = "from tests.torture.test_determinism import bits; print(bits(), end='')"
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def bits(method: str = "auto") -> str:
    """Every number of an evaluation, to the last bit."""
    result = ssme.evaluate(binary_set(n=160), method=method, metrics="accuracy")
    return " ".join(
        float(row[name]).hex() for row in result.rows() for name in ("estimate", "low", "high")
    )


@cache
def here() -> str:
    return bits()


def test_another_process_with_another_number_of_threads() -> None:
    threads = "1" if os.environ.get("OMP_NUM_THREADS") != "1" else "4"
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    environment["PYTHONHASHSEED"] = "7"
    environment["PYTHONPATH"] = os.pathsep.join([os.path.join(TOP, "src"), TOP])
    told = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout == here()


def numbers() -> dict[str, list[float]]:
    """Draws and suggested rows, which chance and the last bit of a number could decide."""
    data, found = binary_set(n=160), {}
    for method, metric in (("ppi", "accuracy"), ("autoeval", "accuracy"), ("auto", "roc_auc")):
        result = ssme.evaluate(data, method=method, metrics=metric)
        draws = result.estimate(metric).draws
        assert draws is not None
        found[method] = draws.ravel().tolist()
    for goal in ("best:roc_auc", "metric:roc_auc"):
        found[goal] = result.suggest(10, goal).rows.tolist()
    result = ssme.evaluate(data, metrics="accuracy", random_state=0)
    chosen = result.suggest(20, "best:accuracy")
    found["best:accuracy"] = chosen.rows.tolist()
    filled = chosen.fill_in((np.arange(20) % 2).tolist())
    draws = ssme.evaluate(filled, metrics="roc_auc").estimate("roc_auc").draws
    assert draws is not None
    found["suggested"] = draws.ravel().tolist()
    return found


def test_another_processor_gives_the_same_numbers() -> None:
    """OpenBLAS computes with the instructions of other processors where it is asked to."""
    code = "import json; from tests.torture import test_determinism as of; "
    code += "print(json.dumps(of.numbers()))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.join(TOP, "src"), TOP])}
    environment["OPENBLAS_CORETYPE"] = "Prescott"
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    elsewhere = json.loads(told.stdout)
    for name, expected in numbers().items():
        np.testing.assert_allclose(elsewhere[name], expected, rtol=0, atol=1e-9, err_msg=name)


def test_evaluations_in_threads() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(bits, ["auto"] * 2)) == {here()}


def test_processes_that_are_spawned() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(bits, "ensemble").result() == bits("ensemble")


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_processes_that_are_forked() -> None:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(bits, "ensemble").result() == bits("ensemble")


def test_one_evaluation_is_asked_from_many_threads() -> None:
    result = ssme.evaluate(binary_set(n=160), method="ensemble")

    def ask(level: float) -> tuple[str, ...]:
        return (
            result.frame(level=level).to_csv(),
            result.compare("accuracy", level=level).frame().to_csv(),
            result.ranking("roc_auc", level=level).frame().to_csv(),
            result.choose("accuracy").sentence(),
        )

    levels = [0.5, 0.8, 0.95] * 2
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(ask, levels))
    assert together == [ask(level) for level in levels]


def test_one_fitted_estimator_is_asked_from_many_threads() -> None:
    data = binary_set(n=160)
    rows = data.scores[:, :, 1]
    fitted = ssme.SSME(random_state=0).fit(rows, data.labels)
    parts = [rows[i::4] for i in range(4)] * 2
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fitted.predict_proba, parts))
    for part, found in zip(parts, together, strict=True):
        assert found.tobytes() == fitted.predict_proba(part).tobytes()
