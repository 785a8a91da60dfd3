"""Names in charts: whatever a file calls its models, groups and classes, drawing it works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.made_sets import HOSTILE, binary_set
from tests.shared_data import ROOT

import ssme
from ssme.show.plot import LABEL_WIDTH, make_names_safe

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
