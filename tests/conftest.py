"""Which tests may be skipped, and that CI forbids skips it did not expect.

Tests marked ``data``, ``torch``, ``gpu``, ``browser``, ``mlflow``, ``harness`` or ``web`` need
something a fresh machine may lack; they are skipped with a reason then. ``SSME_REQUIRE`` (comma
separated, set by CI) turns a missing requirement into an error, and any other skip or expected
failure into a failure.

Generated examples are the same in every run, so that a run fails for what was changed and for
nothing else; ``pytest --hypothesis-profile=default`` draws new ones.

``pytest --seeds 20 tests/statistical`` runs each test with 20 sets of random numbers, the first
being those of the test: a claim on random draws has to hold for all.

Thousands of collected tests are objects that stay: the garbage collector is told to leave them
alone, which takes a seventh off the time of the suite.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
from collections.abc import Generator

import numpy as np
import pytest
from hypothesis import settings

from tests.browsers import axe, browser, browser_path
from tests.shared_data import available, data_folder

__all__ = ["axe", "browser"]

settings.register_profile("seeded", derandomize=True)
settings.load_profile("seeded")

REQUIREMENTS = {
    "data": (available, lambda: f"no classifier sets in {data_folder()} (set SSME_DATA)"),
    "torch": (
        lambda: importlib.util.find_spec("torch") is not None,
        lambda: "torch is not installed (extra `flow`)",
    ),
    "gpu": (lambda: has_gpu(), lambda: "no NVIDIA GPU"),
    "browser": (
        lambda: browser_path() is not None and importlib.util.find_spec("playwright") is not None,
        lambda: "no Chromium found (package `chromium`)",
    ),
    "mlflow": (
        lambda: importlib.util.find_spec("mlflow") is not None,
        lambda: "mlflow is not installed (extra `mlflow`)",
    ),
    "harness": (
        lambda: all(
            importlib.util.find_spec(n)
            for n in ("inspect_ai", "lm_eval", "deepeval", "mlflow", "wandb")
        ),
        lambda: (
            "one of inspect-ai, lm-eval, deepeval, ragas, mlflow and wandb is not installed "
            "(make test-integrations)"
        ),
    ),
    "web": (
        lambda: all(importlib.util.find_spec(n) for n in ("starlette", "uvicorn", "httpx2")),
        lambda: "starlette, uvicorn or httpx2 is not installed (extra `web`)",
    ),
}


KNOWN_TO_FAIL = "tests/test_estimator.py::test_scikit_learn_checks"
"""The only tests that may be expected to fail; each exemption has its reason there."""


def has_gpu() -> bool:
    if importlib.util.find_spec("torch") is None or shutil.which("nvidia-smi") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def required() -> set[str]:
    return {name for name in os.environ.get("SSME_REQUIRE", "").split(",") if name}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", type=int, default=1, help="sets of random numbers for each test")
    parser.addoption("--update-messages", action="store_true", help="write snapshots of messages")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    n = metafunc.config.getoption("seeds")
    if n > 1:
        metafunc.parametrize("other_seeds", range(n), indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def other_seeds(request: pytest.FixtureRequest) -> Generator[None, None, None]:
    """Every seed that is a number becomes another one, beyond the first set of --seeds."""
    made, shift = np.random.default_rng, getattr(request, "param", 0)

    def make_rng(seed: object = None) -> np.random.Generator:
        if isinstance(seed, (int, np.integer, list, tuple)):
            seed = [shift, *np.atleast_1d(seed)]
        return made(seed)

    with pytest.MonkeyPatch.context() as patch:
        if shift:
            patch.setattr(np.random, "default_rng", make_rng)
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Stop before any worker starts if something that is required is absent."""
    absent = sorted(name for name in required() if not REQUIREMENTS[name][0]())
    if absent:
        reasons = "; ".join(REQUIREMENTS[name][1]() for name in absent)
        raise pytest.UsageError(f"SSME_REQUIRE asks for {absent}: {reasons}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    met = {name: present() for name, (present, _) in REQUIREMENTS.items()}
    for item in items:
        for name in REQUIREMENTS:
            if item.get_closest_marker(name) and not met[name]:
                item.add_marker(pytest.mark.skip(reason=REQUIREMENTS[name][1]()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = unexpected_skips(terminalreporter)
    if skipped:
        terminalreporter.section("skips that SSME_REQUIRE forbids")
        for line in skipped:
            terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and unexpected_skips(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def unexpected_skips(reporter: pytest.TerminalReporter) -> list[str]:
    """Skips and expected failures in a run that set SSME_REQUIRE, other than those known."""
    if not required():
        return []
    excused = {text() for name, (_, text) in REQUIREMENTS.items() if name not in required()}
    skipped = [
        report
        for report in reporter.stats.get("skipped", [])
        if not any(reason in str(report.longrepr) for reason in excused)
    ]
    skipped += [
        report
        for report in reporter.stats.get("xfailed", [])
        if not report.nodeid.startswith(KNOWN_TO_FAIL)
    ]
    return [f"{report.nodeid}: {report.longrepr}" for report in skipped]
