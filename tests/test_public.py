"""The public face: names resolve, importing is cheap, nothing heavy comes along."""

import subprocess
import sys

import pytest

import ssme


def test_every_public_name_resolves():
    for name in ssme.__all__:
        assert getattr(ssme, name) is not None
    assert set(dir(ssme)) == set(ssme.__all__)


def test_methods_warnings_and_modules_are_reachable_after_a_plain_import():
    code = (
        "import ssme; from ssme.methods.registry import find_method_class, method_names; "
        "public = [getattr(ssme, name) for name in dir(ssme)]; "
        "assert all(find_method_class(name) in public for name in method_names()); "
        "ssme.progress.show, ssme.sklearn, ssme.InputError, ssme.ConvergenceWarning, "
        "ssme.UndefinedMetricWarning, ssme.SsmeWarning, ssme.RunSpec, ssme.rerun, "
        "ssme.evaluate_parquet, ssme.metrics.ece, ssme.bench.Protocol"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(ssme, "nothing_here")


BUDGET = {
    "import ssme": set(),
    "from ssme import InputError": set(),
    "from ssme.data import ScoreSet": {"numpy"},
    "from ssme.methods.registry import method_names; method_names()": set(),
    "from ssme.metrics import metric_names; metric_names(2)": {"numpy", "scipy"},
}
"""What each statement may import beside the standard library and ssme itself."""


@pytest.mark.parametrize("statement", BUDGET)
def test_an_import_brings_no_more_than_its_budget(statement):
    code = (
        f"import sys; {statement}; names = {{name.partition('.')[0] for name in sys.modules}};"
        "print(*sorted(n for n in names - sys.stdlib_module_names"
        " if n != 'ssme' and not n.startswith(('_', 'sitecustomize', 'a1_', 'cython_runtime'))))"
    )
    known = subprocess.run(
        [sys.executable, "-c", "import sys; print(*{n.partition('.')[0] for n in sys.modules})"],
        capture_output=True,
        text=True,
        check=True,
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(told.stdout.split()) - set(known.stdout.split()) <= BUDGET[statement]


def test_a_plain_import_takes_next_to_no_time():
    code = "import sys; known = set(sys.modules); import ssme; print(*set(sys.modules) - known)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    new = set(told.stdout.split())
    assert {name for name in new if name.startswith("ssme")} == {
        "ssme",
        "ssme.methods",
        "ssme.methods.members",
    }
    assert not new & {"collections", "dataclasses", "enum", "re", "typing"}


OWN_ROOMS = {
    "import ssme": set(),
    "from ssme.methods.registry import method_names; method_names()": {
        "errors",
        "methods",
        "options",
        "wording",
    },
    "from ssme.metrics import metric_names; metric_names(2)": {
        "arrays",
        "errors",
        "metrics",
        "options",
        "wording",
    },
    "from ssme.data.scoreset import ScoreSet": {
        "arrays",
        "data",
        "errors",
        "options",
        "schema",
        "wording",
        "writing",
    },
}
"""The rooms of ssme that each statement may import beside the list of methods; readers and methods
themselves come when asked for."""


@pytest.mark.parametrize("statement", OWN_ROOMS)
def test_an_import_brings_no_more_rooms_than_it_needs(statement):
    listed = {"ssme.methods", "ssme.methods.members"}
    code = f"import sys; {statement}; print(*[n for n in sys.modules if n.startswith('ssme.')])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = set(told.stdout.split()) - listed
    assert {name.split(".")[1] for name in names} <= OWN_ROOMS[statement]
    assert not [name for name in names if name.startswith(("ssme.data.readers", "ssme.methods.e"))]


def test_evaluating_imports_none_of_the_large_parts_of_scipy():
    code = (
        "import sys, ssme; ssme.evaluate([[0.9], [0.2], [0.6]], [1, 0, None], method='labeled', "
        "metrics='accuracy'); large = {'scipy.stats', 'scipy.optimize', 'scipy.spatial'} & "
        "set(sys.modules); assert not large, large"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_an_evaluation_leaves_alone_what_is_behind_its_doors():
    code = (
        "import sys, ssme; ssme.evaluate([[0.9], [0.2], [0.6]], [1, 0, None], method='labeled', "
        "metrics='accuracy'); print(*{n for n in sys.modules if n[:5] == 'ssme.'})"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(told.stdout.split())
    behind = {"report", "integrations", "stream", "tracking", "memory", "serve"}
    assert not behind & {name.split(".")[1] for name in loaded}
    questions = ("gates", "plan", "shift", "suggest", "thresholds", "together")
    assert not loaded & {f"ssme.results.{name}" for name in questions}


def test_the_command_line_imports_no_other_method_than_the_one_asked_for():
    code = (
        "import sys; from ssme.cli.options import READING, RUN; from ssme.cli.run import gather; "
        "from pathlib import Path; given = {'source': [Path('scores.csv')], 'method': 'labeled'}; "
        "spec = gather(given, (*READING, *RUN)); "
        "assert spec.method == 'labeled' and 'ssme.methods.auto' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_evaluate_is_a_function_whatever_was_imported_first():
    code = "import ssme.run, ssme; assert callable(ssme.evaluate)"
    subprocess.run([sys.executable, "-c", code], check=True)
