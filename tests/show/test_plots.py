"""Every picture: it has data, words, and saves to every format; names are drawn as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.made_sets import HOSTILE, binary_set, grouped_set
from tests.shared_data import ROOT

import ssme
from ssme.errors import InputError
from ssme.show.plot import LABEL_WIDTH, make_names_safe
from ssme.show.plots import Plots

NAMES = [name for name in dir(Plots) if not name.startswith("_")]


@pytest.fixture(scope="module")
def binary() -> ssme.Evaluation:
    return ssme.evaluate(
        binary_set(n=120), method="ssme", n_draws=50, options={"tol": 1e-2, "max_iter": 400}
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_picture_has_data_words_and_a_valid_spec(binary: ssme.Evaluation, name: str) -> None:
    plot = getattr(binary.plot, name)()
    assert len(plot.frame()) == len(plot.rows) > 0
    assert len(plot.alt) > 20
    plot.chart.to_dict(validate=True)
    assert "<svg" in plot._repr_mimebundle_()["image/svg+xml"]


def test_save_formats(binary: ssme.Evaluation, tmp_path: Path) -> None:
    plot = binary.plot.estimates()
    starts = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!DOCTYPE", "json": b"{"}
    for suffix, start in starts.items():
        content = plot.save(tmp_path / f"x.{suffix}").read_bytes()
        assert content.lstrip()[: len(start)].upper() == start.upper(), suffix
    assert json.loads((tmp_path / "x.json").read_text())["description"] == plot.alt
    assert "http" not in _outside((tmp_path / "x.svg").read_text())
    with pytest.raises(InputError, match=r"cannot save to '.gif'"):
        plot.save(tmp_path / "x.gif")


def test_estimates_draw_labels_only_and_truth(binary: ssme.Evaluation) -> None:
    plot = binary.plot.estimates(truth={"accuracy": {"forest": 0.9}})
    kinds = plot.frame().groupby("metric")["kind"].unique()
    assert set(kinds["accuracy"]) == {"estimate", "labels only", "truth"}
    assert set(kinds["ece"]) == {"estimate", "labels only"}


def test_the_best_are_drawn_when_there_are_many() -> None:
    data = binary_set(tuple(f"m{j:03d}" for j in range(40)), n=100)
    result = ssme.evaluate(data, method="ensemble", metrics="accuracy", n_draws=20)
    drawn = set(result.plot.estimates().frame()["model"])
    assert len(drawn) == 20
    best = max(zip(result.estimate().value, data.models, strict=True))[1]
    assert best in drawn


def test_groups_picture() -> None:
    result = ssme.evaluate(grouped_set(), method="ensemble", n_draws=50)
    plot = result.plot.groups("accuracy")
    assert {"all", "site=north", "age=old"} <= set(plot.frame()["group"])
    assert plot.title.startswith("accuracy (higher is better) by group")
    assert plot.spec()["spec"]["layer"][0]["encoding"]["x"]["title"] == "accuracy"


def test_unknown_model_or_class(binary: ssme.Evaluation) -> None:
    with pytest.raises(InputError, match="no model 'nobody'"):
        binary.plot.roc(models="nobody")
    with pytest.raises(InputError, match="no class 'x'"):
        binary.plot.roc(class_name="x")
    assert {r["model"] for r in binary.plot.roc(models=["tree"], class_name=0).rows} == {"tree"}


def _outside(svg: str) -> str:
    return svg.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")


# Names in charts: whatever a file calls its models, groups and classes, drawing it works.


DRAW = """
import sys
from pathlib import Path
from tests.made_sets import HOSTILE, UNPRINTABLE, binary_set
import numpy as np
import ssme

folder = Path(sys.argv[1])
names = UNPRINTABLE + HOSTILE
data = binary_set(names, n=120)
sites = np.array(names, dtype=object)[np.arange(120) % len(names)]
data = data.replace(groups={"a\\x01b": sites}, classes=("no \\x00", "yes \\u2028"))
r = ssme.evaluate(data, method="ensemble", metrics="accuracy", n_draws=20)
r.report(folder / "r.html")
for name in (n for n in dir(type(r.plot)) if not n.startswith("_") and n != "convergence"):
    try:
        plot = getattr(r.plot, name)
    except AttributeError:
        continue
    if callable(plot):
        plot().save(folder / f"{name}.svg")
for suffix in ("png", "pdf", "html", "json"):
    r.plot.estimates().save(folder / f"estimates.{suffix}")
print("drawn")
"""


@pytest.mark.filterwarnings("ignore")
def test_unprintable_names_are_drawn_and_do_not_end_the_process(tmp_path: Path) -> None:
    """In a process of its own: a control character used to abort it, without an exception."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRAW, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (0, "drawn\n"), done.stderr[-2000:]
    assert len(list(tmp_path.iterdir())) == 14
    for path in tmp_path.glob("*.svg"):
        assert not {c for c in path.read_text(encoding="utf-8") if c < " " and c not in "\n\t"}


def test_names_cannot_end_the_script_of_a_saved_page(tmp_path: Path) -> None:
    """The specification is put into a script element, where ``</script>`` would end it."""
    result = ssme.evaluate(
        binary_set(HOSTILE, n=60), method="ensemble", metrics="accuracy", n_draws=5
    )
    page = result.plot.estimates().save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "\\u003cscript>alert(1)\\u003c/script>" in page


def test_labels_are_short_and_stay_different() -> None:
    names = ["long " * 20 + str(j) for j in range(3)] + ["\x07", "\\x07"]
    spec = make_names_safe(
        {"data": {"values": [{"model": n, "words": n, "x": 1} for n in names]}, "sort": names}
    )
    labels = [row["model"] for row in spec["data"]["values"]]
    assert spec["sort"] == labels
    assert len(set(labels)) == len(names)
    assert max(map(len, labels)) <= LABEL_WIDTH + len(" (3)")
    assert labels[3:] == ["\\x07", "\\x07 (2)"]
