"""The public face: names resolve, importing is cheap, nothing heavy comes along."""

import subprocess
import sys
from functools import cache

import pytest

import ssme
from ssme.methods.members import METHODS

EVALUATE = (
    "import ssme; ssme.evaluate([[0.9], [0.2], [0.6]], [1, 0, None], method='labeled', "
    "metrics='accuracy')"
)


@cache
def find_loaded(statement: str) -> frozenset[str]:
    """The modules that a statement loads in a process of its own."""
    code = f"import sys; known = set(sys.modules); {statement}; print(*set(sys.modules) - known)"
    command = [sys.executable, "-W", "ignore", "-c", code]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    return frozenset(told.stdout.splitlines()[-1].split())


def test_every_public_name_resolves():
    for name in ssme.__all__:
        assert getattr(ssme, name) is not None
    assert set(dir(ssme)) == set(ssme.__all__)


def test_methods_warnings_and_modules_are_reachable_after_a_plain_import():
    find_loaded(
        "import ssme; from ssme.methods.registry import find_method_class, method_names; "
        "public = [getattr(ssme, name) for name in dir(ssme)]; "
        "assert all(find_method_class(name) in public for name in method_names()); "
        "ssme.progress.show, ssme.sklearn, ssme.InputError, ssme.ConvergenceWarning, "
        "ssme.UndefinedMetricWarning, ssme.SsmeWarning, ssme.RunSpec, ssme.rerun, "
        "ssme.evaluate_parquet, ssme.metrics.ece, ssme.bench.Protocol"
    )


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(ssme, "nothing_here")


NAMES = "from ssme.methods.registry import method_names; method_names()"
METRICS = "from ssme.metrics import metric_names; metric_names(2)"
BUDGET = {
    "import ssme": set(),
    "from ssme import InputError": set(),
    "from ssme.data import ScoreSet": {"numpy"},
    NAMES: set(),
    METRICS: {"numpy", "scipy"},
}
"""What each statement may import beside the standard library and ssme itself."""


@pytest.mark.parametrize("statement", BUDGET)
def test_an_import_brings_no_more_than_its_budget(statement):
    names = {name.partition(".")[0] for name in find_loaded(statement)}
    odd = ("_", "sitecustomize", "a1_", "cython_runtime")
    foreign = {n for n in names - sys.stdlib_module_names if not n.startswith(odd)}
    assert foreign - {"ssme"} <= BUDGET[statement]


def test_a_plain_import_takes_next_to_no_time():
    new = find_loaded("import ssme")
    listed = {name for name in new if name.startswith("ssme")}
    assert listed == {"ssme", "ssme.methods", "ssme.methods.members"}
    assert not new & {"collections", "dataclasses", "enum", "re", "typing"}


OWN_ROOMS = {
    "import ssme": set(),
    NAMES: {"errors", "methods", "options", "wording"},
    METRICS: {"arrays", "errors", "metrics", "options", "wording"},
    "from ssme.data import ScoreSet": {
        *("arrays", "data", "errors", "options", "schema", "wording", "writing")
    },
}
"""The rooms of ssme that each statement may import beside the list of methods; readers and methods
themselves come when asked for."""


@pytest.mark.parametrize("statement", OWN_ROOMS)
def test_an_import_brings_no_more_rooms_than_it_needs(statement):
    names = {name for name in find_loaded(statement) if name.startswith("ssme.")}
    names -= {"ssme.methods", "ssme.methods.members"}
    assert {name.split(".")[1] for name in names} <= OWN_ROOMS[statement]
    methods = {each.partition(":")[0] for each in METHODS.values()}
    assert not [name for name in names if name in methods or name.startswith("ssme.data.readers")]


def test_an_evaluation_leaves_alone_what_is_behind_its_doors():
    loaded = find_loaded(EVALUATE)
    assert not loaded & {"scipy.stats", "scipy.optimize", "scipy.spatial"}
    behind = {"report", "integrations", "stream", "tracking", "memory", "serve"}
    assert not behind & {name.split(".")[1] for name in loaded if name.startswith("ssme.")}
    questions = ("gates", "plan", "shift", "suggest", "thresholds", "together")
    assert not loaded & {f"ssme.results.{name}" for name in questions}


def test_the_command_line_imports_no_other_method_than_the_one_asked_for():
    loaded = find_loaded(
        "from ssme.cli.options import READING, RUN; from ssme.cli.run import gather; "
        "from pathlib import Path; given = {'source': [Path('scores.csv')], 'method': 'labeled'}; "
        "spec = gather(given, (*READING, *RUN)); assert spec.method == 'labeled'"
    )
    assert "ssme.methods.auto" not in loaded


def test_evaluate_is_a_function_whatever_was_imported_first():
    find_loaded("import ssme.run, ssme; assert callable(ssme.evaluate)")
