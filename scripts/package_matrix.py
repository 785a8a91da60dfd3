"""Install the wheel alone into empty environments and try it: the matrix of installs.

    python scripts/package_matrix.py [--python 3.11 --python 3.12 ...]

For every Python found here, once with the lowest versions that pyproject.toml allows and once with
the newest, from wheels only: the smoke test of `check_package`, ``ssme demo`` and ``ssme
--version``. With the newest also the extras that take no minutes to install, one evaluation that
reads Excel and Parquet, and a consumer's file under mypy and pyright. A Python that is not here is
only resolved: its line says "resolved". Writes ``benchmarks/results/install_matrix.csv``.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path

from check_package import ROOT, SMOKE, build

RESULT = ROOT / "benchmarks" / "results" / "install_matrix.csv"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = "parquet,yaml,excel,report,web"
CONSUMER = ROOT / "tests" / "typing" / "consumer.py"
SHOWN = ("numpy", "scipy", "pandas", "scikit-learn", "narwhals", "typer")
WITH_EXTRAS = """
import openpyxl, pandas, ssme
from ssme.sample import sample_path
frame = pandas.read_csv(sample_path())
frame.to_parquet("s.parquet")
frame.to_excel("s.xlsx", index=False)
found = [
    [
        (row["model"], round(row["estimate"], 9))
        for row in ssme.evaluate(
            path, "label", id="id", metrics="accuracy", method="ensemble"
        ).rows()
    ]
    for path in (sample_path(), "s.parquet", "s.xlsx")
]
assert found[0] == found[1] == found[2]
"""


def run_command(*command: object, cwd: Path) -> tuple[bool, str]:
    """Whether a command succeeds, and what it prints."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    return done.returncode == 0, done.stdout + done.stderr


def run_uv(*words: object, cwd: Path) -> tuple[bool, str]:
    return run_command(sys.executable, "-m", "uv", *words, cwd=cwd)


def try_install(version: str, resolution: str, wheel: Path, folder: Path) -> dict[str, str]:
    """One line of the matrix."""
    row = {"python": version, "dependencies": resolution}
    place = folder / f"{version}-{resolution}"
    how = ["--resolution", "lowest-direct" if resolution == "lowest" else "highest"]
    made, told = run_uv(
        "venv", "-q", "--python", version, "--no-python-downloads", place, cwd=folder
    )
    if not made:
        dry = ("pip", "compile", "-q", "--python-version", version, "--only-binary", ":all:", *how)
        found, told = run_uv(*dry, write_input(wheel, folder), cwd=folder)
        return row | {"result": "resolved" if found else f"refused: {told.strip()[-200:]}"}
    python = place / "bin" / "python"
    steps = {
        "install": lambda: run_uv(
            *("pip", "install", "-q", "--python", python, "--only-binary", ":all:", *how, wheel),
            *list_requirements(wheel),
            cwd=folder,
        ),
        "smoke": lambda: run_command(python, "-I", "-c", SMOKE, cwd=folder),
        "demo": lambda: run_command(place / "bin" / "ssme", "demo", cwd=folder),
        "version": lambda: run_command(place / "bin" / "ssme", "--version", cwd=folder),
    }
    if resolution == "newest":
        checkers = ("mypy>=1.14", "basedpyright>=1.20", "pandas-stubs", "openpyxl>=3.1")
        steps |= {
            "extras": lambda: run_uv(
                *("pip", "install", "-q", "--python", python, "--only-binary", ":all:"),
                *(f"ssme[{EXTRAS}] @ {wheel.as_uri()}", *checkers),
                cwd=folder,
            ),
            "files": lambda: run_command(python, "-I", "-c", WITH_EXTRAS, cwd=folder),
            "mypy": lambda: run_command(
                *(python, "-m", "mypy", "--strict", "--python-version", version, CONSUMER),
                cwd=folder,
            ),
            "pyright": lambda: run_command(
                *(python, "-m", "basedpyright", "--pythonpath", python, "--level", "error"),
                CONSUMER,
                cwd=folder,
            ),
        }
    for name, step in steps.items():
        held, told = step()
        if not held:
            return row | {"result": f"{name} failed: {' '.join(told.split())[-300:]}"}
        row["result"] = f"passed {', '.join(list(steps)[: list(steps).index(name) + 1])}"
    _, listed = run_uv("pip", "list", "-q", "--python", python, "--format", "json", cwd=folder)
    versions = {each["name"]: each["version"] for each in json.loads(listed)}
    return row | {name: versions[name] for name in SHOWN}


def list_requirements(wheel: Path) -> list[str]:
    """What the wheel needs by itself, named so that their lowest versions can be asked for."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        found = Parser().parsestr(archive.read(name).decode()).get_all("Requires-Dist") or []
    return [each for each in found if "extra ==" not in each]


def write_input(wheel: Path, folder: Path) -> Path:
    path = folder / "requirements.in"
    path.write_text("\n".join([f"ssme @ {wheel.as_uri()}", *list_requirements(wheel)]) + "\n")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--python", action="append", help="renew the lines of these only")
    asked = parser.parse_args()
    pythons = asked.python or PYTHONS
    rows = [row for row in read_kept_lines() if row["python"] not in pythons]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, _ = build(folder / "built")
        for version in pythons:
            for resolution in ("lowest", "newest"):
                rows.append(try_install(version, resolution, wheel, folder))
                print(rows[-1], flush=True)
            write(rows)
    return int(any(not row["result"].startswith(("passed", "resolved")) for row in rows))


def read_kept_lines() -> list[dict[str, str]]:
    """The lines of the result that is there."""
    if not RESULT.exists():
        return []
    with RESULT.open(newline="") as file:
        return list(csv.DictReader(file))


def write(rows: list[dict[str, str]]) -> None:
    """Write the result, with a line on how it was made."""
    rows = sorted(rows, key=lambda row: (row["python"], row["dependencies"]))
    with RESULT.open("w", newline="") as file:
        columns = ("python", "dependencies", "result", *SHOWN)
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    from benchmarks.provenance import record

    record(RESULT, "python scripts/package_matrix.py")


if __name__ == "__main__":
    sys.exit(main())
