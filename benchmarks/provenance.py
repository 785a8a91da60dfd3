"""What every result file was made with: one line each in ``results/runs.csv``.

    python -m benchmarks.provenance           # fail on a result without a line
    python -m benchmarks.provenance --fill    # name the commits of known states of the source

A line has the command, the versions, the checksum of the source, the machine and the commit. The
commit is the one that was checked out where its source had that checksum; on a machine without the
history it is "unknown" until ``--fill`` finds it by the checksum. ``note`` says what is wrong with
a result that has not been made anew, such as cells of two states of the source.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path
from typing import Any

import pandas as pd

from ssme.bench.store import compute_source_checksum, describe_process

ROOT = Path(__file__).resolve().parent
RUNS = "runs.csv"
COLUMNS = ("experiment", "command", *describe_process(), "commit", "cells", "cpu_minutes", "note")
UNKNOWN = "unknown"


def record(
    path: Path, command: str | None = None, times: pd.DataFrame | None = None, note: str = ""
) -> None:
    """Write the line of the result ``path`` in the ``runs.csv`` beside it.

    ``times`` has one row per cell with its versions, machine and ``seconds``; without it, what is
    true of this process is taken.
    """
    known = pd.DataFrame([{**describe_process(), "seconds": 0.0}]) if times is None else times
    row = {
        "experiment": path.stem,
        "command": command or find_command(),
        **{column: " ".join(map(str, sorted(set(known[column])))) for column in describe_process()},
        "commit": find_commit() if set(known["source"]) == {compute_source_checksum()} else UNKNOWN,
        "cells": str(0 if times is None else len(times)),
        "cpu_minutes": f"{known['seconds'].sum() / 60:.1f}",
        "note": note,
    }
    lines = read(path.parent)
    lines = lines[lines["experiment"] != path.stem]
    write(pd.concat([lines, pd.DataFrame([row])]), path.parent)


def read(folder: Path) -> pd.DataFrame:
    """The lines of a folder of results, everything text; none where there is no file."""
    path = folder / RUNS
    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS), dtype=str)
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return table.reindex(columns=list(COLUMNS), fill_value="")


def write(lines: pd.DataFrame, folder: Path) -> None:
    """Write the lines, sorted by result."""
    folder.mkdir(parents=True, exist_ok=True)
    lines.sort_values("experiment").to_csv(folder / RUNS, index=False, lineterminator="\n")


def find_command() -> str:
    """The command line of this process, as one would type it in the checkout."""
    module = getattr(sys.modules["__main__"], "__spec__", None)
    name = module.name if module else Path(sys.argv[0]).stem
    words = [f'"{word}"' if " " in word else word for word in sys.argv[1:]]
    return " ".join(["python -m", name, *words])


def find_commit() -> str:
    """The commit checked out, or "unknown" where files of the package differ from it."""
    head, changed = (
        ask_git("rev-parse", "--short", "HEAD"),
        ask_git("status", "--porcelain", "../src"),
    )
    return UNKNOWN if head is None or changed is None or changed else head


def ask_git(*words: str) -> str | None:
    """What git says, None where it cannot."""
    try:
        told = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return told.stdout.strip()


def find_problems(folder: Path) -> list[str]:
    """What is wrong with the provenance of a folder of results."""
    lines = read(folder).set_index("experiment")
    files = {path.stem for path in folder.glob("*.csv")} - {Path(RUNS).stem}
    found = [f"{name}.csv has no line in {RUNS}" for name in sorted(files - set(lines.index))]
    found += [
        f"{RUNS} has a line for {n}.csv, which is not there" for n in lines.index if n not in files
    ]
    has_history = ask_git("rev-parse", "--is-shallow-repository") == "false"
    for name, line in lines.iterrows():
        empty = [
            column for column in ("command", *describe_process(), "commit") if not line[column]
        ]
        found += [f"{name}: {column} is empty" for column in empty]
        unclear = " " in line["source"] or UNKNOWN in (line["source"], line["commit"])
        if unclear and not line["note"]:
            found.append(f"{name}: source {line['source']}, commit {line['commit']}, and no note")
        if has_history and line["commit"] != UNKNOWN:
            found += [
                f"{name}: commit {each} is not in the history"
                for each in find_missing(line["commit"])
            ]
    return found


def find_missing(commits: str) -> list[str]:
    """Those of the commits that are not in the history, such as those of a rebased branch."""
    return [
        each
        for each in commits.split()
        if ask_git("merge-base", "--is-ancestor", each, "HEAD") is None
    ]


def find_commits(wanted: set[str]) -> dict[str, str]:
    """The newest commit whose package has each of the ``wanted`` checksums."""
    found: dict[str, str] = {}
    for name in (ask_git("log", "--format=%h", "--", "../src") or "").split():
        if wanted <= set(found):
            break
        checksum = compute_checksum_at(name)
        if checksum in wanted:
            found.setdefault(checksum, name)
    return found


def compute_checksum_at(name: str) -> str:
    """`compute_source_checksum` of the package as it was in the commit ``name``."""
    told = subprocess.run(
        ["git", "archive", name, "src/ssme"], cwd=ROOT.parent, capture_output=True, check=True
    )
    texts: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(told.stdout)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".py") else None
            if file is not None:
                texts[member.name.removeprefix("src/ssme/")] = file.read()
    total = 0
    for path in sorted(texts):
        total = zlib.crc32(path.encode() + texts[path].replace(b"\r\n", b"\n"), total)
    return f"{total:08x}"


def fill(folder: Path) -> None:
    """Name the commits of lines whose state of the source is known and in the history."""
    lines = read(folder)
    unknown = lines["commit"].map(lambda text: text == UNKNOWN or bool(find_missing(text)))
    wanted = {each for text in lines.loc[unknown, "source"] for each in text.split()} - {UNKNOWN}
    commits: dict[str, Any] = find_commits(wanted)
    for place in lines.index[unknown]:
        sources = lines.loc[place, "source"].split()
        if sources and all(each in commits for each in sources):
            lines.loc[place, "commit"] = " ".join(commits[each] for each in sources)
    write(lines, folder)
    print(f"{len(commits)} of {len(wanted)} states of the source are in the history")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--fill", action="store_true", help="name commits by their checksum")
    results = ROOT / "results"
    if parser.parse_args().fill:
        fill(results)
    found = find_problems(results)
    print("\n".join(found) or "every result has its line")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
