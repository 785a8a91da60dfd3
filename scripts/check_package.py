"""What is installed is what was meant: wheel and sdist from a clean build, in an empty environment.

Builds both twice and compares the bits, looks at what they hold, installs the wheel with
the core dependencies only, runs ``ssme demo`` and what needs an extra, which must name it.

Run: python scripts/check_package.py
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "ssme/__init__.py",
    "ssme/py.typed",
    *(f"ssme/diagnostics/{page.name}" for page in ROOT.glob("docs/warnings-*.md")),
    "ssme/diagnostics/pictures/d101.svg",
    "ssme/diagnostics/pictures/d101.svg",
    "ssme/show/templates/report.html",
    "ssme/sample_data/digits.csv",
)
SMOKE = """
import importlib.metadata, ssme
from ssme.sample import sample_path
assert ssme.__version__ == importlib.metadata.version("ssme"), ssme.__version__
result = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
assert len(list(result.rows())) == 6
assert "explained-d" in __import__("ssme.show.report").show.report.render_report(result)
with open("scores.parquet", "wb") as file:
    file.write(b"PAR1")
try:
    ssme.ScoreSet.read("scores.parquet", "label")
except ssme.MissingExtraError as error:
    assert "ssme[parquet]" in str(error), error
except Exception as error:
    raise SystemExit(f"a missing extra is told as {error!r}")
"""


def run(*command: object, cwd: Path = ROOT) -> str:
    """What a command prints; the check ends where it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of this tree."""
    run(sys.executable, "-m", "uv", "build", "-q", "--out-dir", folder, ROOT)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def check_content(wheel: Path, sdist: Path) -> list[str]:
    """What the two archives lack, and what they should not have."""
    names = zipfile.ZipFile(wheel).namelist()
    problems = [f"the wheel lacks {name}" for name in NEEDED if name not in names]
    odd = [n for n in names if not n.startswith(("ssme/", "ssme-")) or n.endswith(".pyc")]
    problems += [f"the wheel has {name}" for name in odd]
    with tarfile.open(sdist) as archive:
        inside = [name.partition("/")[2] for name in archive.getnames()]
    allowed = ("src", "docs/warnings-", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")
    allowed += ("docs/images/warnings", "pyproject.toml", "PKG-INFO", ".gitignore")
    problems += [
        f"the sdist has {name}" for name in inside if name and not name.startswith(allowed)
    ]
    return problems


def compute_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build(folder / "first")
        again, sdist_again = build(folder / "second")
        problems = check_content(wheel, sdist)
        pairs = ((wheel, again), (sdist, sdist_again))
        if any(compute_digest(one) != compute_digest(other) for one, other in pairs):
            problems.append("two builds of one tree differ")
        venv.create(folder / "empty", with_pip=False)
        python = folder / "empty" / "bin" / "python"
        run(sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python, wheel)
        run(python, "-I", "-c", SMOKE, cwd=folder)
        ssme = folder / "empty" / "bin" / "ssme"
        if "auto" not in run(ssme, "demo", cwd=folder):
            problems.append("ssme demo does not speak of auto")
        version = run(ssme, "--version", cwd=folder)
        if wheel.name.split("-")[1] not in version:
            problems.append(f"ssme --version says {version!r}, the wheel is {wheel.name}")
        print("\n".join(problems) or f"{wheel.name} and {sdist.name} hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
