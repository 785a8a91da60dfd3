"""The public face: names resolve, importing is cheap, nothing heavy comes along."""

import subprocess
import sys

import ssme


def test_every_public_name_resolves():
    for name in ssme.__all__:
        assert getattr(ssme, name) is not None
    assert set(dir(ssme)) == set(ssme.__all__)


def test_methods_warnings_and_modules_are_reachable_after_a_plain_import():
    code = (
        "import ssme; from ssme.methods.registry import method_class, method_names; "
        "public = [getattr(ssme, name) for name in dir(ssme)]; "
        "assert all(method_class(name) in public for name in method_names()); "
        "ssme.progress.show, ssme.sklearn, ssme.InputError, ssme.ConvergenceWarning, "
        "ssme.UndefinedMetricWarning, ssme.SsmeWarning, ssme.RunSpec, ssme.rerun, "
        "ssme.evaluate_parquet, ssme.metrics.ece, ssme.bench.Protocol, ssme.theory"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(ssme, "nothing_here")


def test_import_brings_no_heavy_library():
    code = (
        "import sys, ssme; heavy = {'numpy', 'pandas', 'sklearn', 'torch', 'altair', 'pyarrow',"
        " 'distributed', 'polars'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_evaluating_imports_none_of_the_large_parts_of_scipy():
    code = (
        "import sys, ssme; ssme.evaluate([[0.9], [0.2], [0.6]], [1, 0, None], method='labeled', "
        "metrics='accuracy'); large = {'scipy.stats', 'scipy.optimize', 'scipy.spatial'} & "
        "set(sys.modules); assert not large, large"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_evaluate_is_a_function_whatever_was_imported_first():
    code = "import ssme.run, ssme; assert callable(ssme.evaluate)"
    subprocess.run([sys.executable, "-c", code], check=True)
