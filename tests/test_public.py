"""The public face: names resolve, importing is cheap, nothing heavy comes along."""

import subprocess
import sys

import ssme


def test_every_public_name_resolves():
    for name in ssme.__all__:
        assert getattr(ssme, name) is not None
    assert set(dir(ssme)) == set(ssme.__all__)


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(ssme, "nothing_here")


def test_import_brings_no_heavy_library():
    code = (
        "import sys, ssme; heavy = {'numpy', 'pandas', 'sklearn', 'torch', 'altair', 'pyarrow',"
        " 'distributed', 'polars'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_evaluate_is_a_function_whatever_was_imported_first():
    code = "import ssme.run, ssme; assert callable(ssme.evaluate)"
    subprocess.run([sys.executable, "-c", code], check=True)
