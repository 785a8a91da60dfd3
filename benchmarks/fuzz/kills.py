"""Kill the program at random moments: is anything lost, half written or left behind?

    python -m benchmarks.fuzz.kills [--kills 200] [--seed 0]

Four commands are started over and over and ended by SIGKILL, SIGTERM or Ctrl-C after a random time:
``bench --resume`` with one and with two workers, ``evaluate --engine stream --checkpoint``, and
``evaluate`` that writes JSON, CSV and HTML over earlier files. After every kill is looked at

- lost: a finished cell that was there before, or an earlier file, is gone;
- half_written: a file is neither what it was nor what it becomes;
- left_behind: a process of the command is alive five seconds later;
- wrong_end: a command that was allowed to finish gives another result than one never killed.

``unfinished`` counts the files that a kill left under a name that ends in ``.unfinished``, which is
allowed, as nothing reads them. Writes ``benchmarks/results/kills.csv``, one line per command.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.fuzz.tables import write_counts
from ssme.bench.store import CellStore
from ssme.errors import InputError
from ssme.stream import counting
from ssme.stream.counting import read_checkpoint
from ssme.writing import UNFINISHED

SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT")
COUNTS = (
    "kills",
    "while_running",
    "lost",
    "half_written",
    "left_behind",
    "wrong_end",
    "unfinished",
)
PATIENCE = 5.0
"""Seconds that processes have to be gone in."""


def write_inputs(folder: Path) -> None:
    """A fully labeled history, scores with few labels, and the same in many row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    columns = {
        name: 1 / (1 + np.exp(-(skill * (2 * y - 1) + rng.normal(size=y.size))))
        for name, skill in (("forest", 1.5), ("logistic", 1.0))
    }
    label = [int(value) if number < 100 else None for number, value in enumerate(y)]
    pq.write_table(
        pa.table({**columns, "y": pa.array(label)}), folder / "scores.parquet", row_group_size=20
    )
    for name, labels in (("history.csv", list(y)), ("scores.csv", label)):
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*columns, "y"])
            rows = zip(*columns.values(), ["" if v is None else v for v in labels], strict=True)
            writer.writerows(list(rows)[:600])


class Child:
    """A process of its own session that does one piece of work and keeps silent."""

    def __init__(self, folder: Path, work: Callable[[], None]) -> None:
        self.code: int | None = None
        self.pid = os.fork()
        if self.pid:
            return
        code = 1
        try:
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's "&" ignores it
            os.chdir(folder)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (1, 2):
                os.dup2(nowhere, stream)
            work()
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 0
        finally:
            os._exit(code)

    def wait(self, seconds: float) -> int | None:
        """The exit code, None where the process is still there when the time is up."""
        end = time.monotonic() + seconds
        while self.code is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= end:
                break
            else:
                time.sleep(0.005)
        return self.code


@dataclass
class Command:
    """A command line, and what its files have to be at any moment."""

    folder: Path
    arguments: list[str]
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    expected: str = ""

    def work(self) -> None:
        """What the process does: it is ``python -m ssme``, also to the workers that it starts."""
        from ssme.cli import app

        program = find_spec("ssme.__main__")
        assert program is not None
        sys.modules["__main__"] = module_from_spec(program)
        app(self.arguments)

    def start(self) -> Child:
        """Begin, in a process that has all modules loaded: kills hit the work, not its imports."""
        return Child(self.folder, self.work)

    def rehearse(self) -> None:
        """Run once undisturbed: what comes out, and how long it takes."""
        begin = time.monotonic()
        if self.start().wait(60.0) != 0:
            raise SystemExit(f"ssme {' '.join(self.arguments)} fails by itself")
        self.seconds = time.monotonic() - begin
        self.expected = self.read_outcome()
        self.clear()

    def kill_once(self, rng: np.random.Generator) -> None:
        """Start, end at a random moment, and look at what is there."""
        before = self.read_state()
        process = self.start()
        name = str(rng.choice(SIGNALS))
        time.sleep(rng.uniform(0.0, 1.1 * self.seconds))
        self.counts["kills"] += 1
        self.counts["while_running"] += process.wait(0.0) is None
        with suppress(ProcessLookupError):
            if name == "SIGINT":
                os.killpg(process.pid, signal.SIGINT)
            else:
                os.kill(process.pid, getattr(signal, name))
        process.wait(PATIENCE)
        self.counts["left_behind"] += not wait_for_end(process.pid)
        for path in self.folder.rglob(f"*{UNFINISHED}"):
            self.counts["unfinished"] += 1
            path.unlink()
        try:
            self.counts["lost"] += not self.is_kept(before, self.read_state())
        except (InputError, ValueError, OSError) as error:
            print(f"half written: {error}")
            self.counts["half_written"] += 1
            self.clear()
        if self.is_finished():
            self.counts["wrong_end"] += self.read_outcome() != self.expected
            self.clear()

    def read_state(self) -> object:
        raise NotImplementedError

    def is_kept(self, before: object, after: object) -> bool:
        raise NotImplementedError

    def is_finished(self) -> bool:
        raise NotImplementedError

    def read_outcome(self) -> str:
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError


class Bench(Command):
    """The finished cells grow; the table is there at the end and is always the same."""

    @property
    def kept(self) -> Path:
        return self.folder / self.arguments[self.arguments.index("--resume") + 1]

    def read_state(self) -> object:
        if not (self.kept / "cells.jsonl").exists():
            return {}
        cells = CellStore(self.kept / "cells.jsonl").done
        return {name: json.dumps(cell["rows"]) for name, cell in cells.items()}

    def is_kept(self, before: object, after: object) -> bool:
        assert isinstance(before, dict)
        assert isinstance(after, dict)
        return before.items() <= after.items()

    def is_finished(self) -> bool:
        return (self.kept / "results.csv").exists()

    def read_outcome(self) -> str:
        return (self.kept / "results.csv").read_text()

    def clear(self) -> None:
        shutil.rmtree(self.kept, ignore_errors=True)


class Stream(Command):
    """The checkpoint never goes back; the result is there at the end and is always the same.

    Here a checkpoint is written after every part, so that kills hit the writing too.
    """

    def work(self) -> None:
        counting.SECONDS_BETWEEN_CHECKPOINTS = 0.0
        super().work()

    def read_state(self) -> object:
        path = self.folder / "pass.ckpt"
        parts = read_checkpoint(path)[0]["n_parts"] if path.exists() else 0
        return 10**9 if self.is_finished() and self.read_outcome() else parts

    def is_kept(self, before: object, after: object) -> bool:
        assert isinstance(before, int)
        assert isinstance(after, int)
        return before <= after or after == 0  # it is deleted when the pass is over

    def is_finished(self) -> bool:
        return (self.folder / "stream.json").exists()

    def read_outcome(self) -> str:
        return json.dumps(json.loads((self.folder / "stream.json").read_text())["estimates"])

    def clear(self) -> None:
        for name in ("stream.json", "pass.ckpt"):
            (self.folder / name).unlink(missing_ok=True)


class Report(Command):
    """Each file is the earlier one or a whole new one (charts are left blank)."""

    FILES = ("report.json", "report.csv", "report.html")
    EARLIER = b"earlier\n"

    def read_state(self) -> object:
        whole = []
        for name in self.FILES:
            path = self.folder / name
            content = path.read_bytes() if path.exists() else b""
            if content not in (b"", self.EARLIER):
                self.check(name, content)
            whole.append(content not in (b"", self.EARLIER))
        return whole, all((self.folder / name).exists() for name in self.FILES)

    def check(self, name: str, content: bytes) -> None:
        if name.endswith(".json"):
            json.loads(content)
        elif name.endswith(".csv") and not content.endswith(b"\n"):
            raise ValueError(f"{name} ends within a line")
        elif name.endswith(".html") and not content.rstrip().endswith(b"</html>"):
            raise ValueError(f"{name} has no end")

    def is_kept(self, before: object, after: object) -> bool:
        assert isinstance(before, tuple)
        assert isinstance(after, tuple)
        return after[1] or not before[1]

    def is_finished(self) -> bool:
        state = self.read_state()
        assert isinstance(state, tuple)
        return all(state[0])

    def read_outcome(self) -> str:
        return (self.folder / "report.csv").read_text()

    def clear(self) -> None:
        for name in self.FILES:
            (self.folder / name).write_bytes(self.EARLIER)


def wait_for_end(session: int) -> bool:
    """Whether every process of a session is gone in time; what is not is killed."""
    end = time.monotonic() + PATIENCE
    while (left := list(list_members(session))) and time.monotonic() < end:
        time.sleep(0.02)
    for number in left:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return not left


def list_members(session: int) -> Iterator[int]:
    """The processes of a session that are alive."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, of = path.read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state not in "ZX":
                yield int(path.parent.name)


def make_commands(folder: Path) -> dict[str, Command]:
    """What is killed."""
    bench = ["bench", "history.csv", "--label", "y", "--methods", "labeled,ensemble", "--runs"]
    bench += ["8", "--metrics", "accuracy", "--metrics", "roc_auc", "--quiet", "--resume"]
    evaluate = ["--label", "y", "--method", "ensemble", "--n-draws", "20", "--quiet"]
    stream = ["evaluate", "scores.parquet", *evaluate, "--engine", "stream", "--checkpoint"]
    report = ["evaluate", "scores.csv", *evaluate, "--force", "--json", "report.json"]
    return {
        "bench, 1 worker": Bench(folder, [*bench, "kept1"]),
        "bench, 2 workers": Bench(folder, [*bench, "kept2", "--workers", "2"]),
        "stream": Stream(folder, [*stream, "pass.ckpt", "--json", "stream.json"]),
        "report": Report(folder, [*report, "--csv", "report.csv", "--html", "report.html"]),
    }


def leave_blank(plot: object, prefix: str) -> str:
    """In the place of a drawn chart: drawing starts threads, which a copied process lacks."""
    return "<svg xmlns='http://www.w3.org/2000/svg'></svg>" + " " * 20_000


def load_modules(folder: Path) -> None:
    """Run two commands here, so that the processes find what they import in memory."""
    import pyarrow.parquet  # noqa: F401

    from ssme.cli import app

    history, kept = str(folder / "history.csv"), str(folder / "first")
    options = ["--label", "y", "--quiet", "--json", os.devnull, "--force"]
    bench = ["--methods", "labeled,ensemble", "--runs", "1", "--metrics", "accuracy"]
    app(["bench", history, *options, *bench, "--resume", kept], standalone_mode=False)
    report = ["--method", "ensemble", "--n-draws", "5", "--html", os.devnull]
    app(["evaluate", history, *options[:3], *report, "--force"], standalone_mode=False)


def attack(kills: int, seed: int) -> list[dict[str, object]]:
    """Kill ``kills`` times in all, every command in turn; the counts of each."""
    rng = np.random.default_rng(seed)
    blank = patch.object(import_module("ssme.show.charts"), "_render_svg", leave_blank)
    with tempfile.TemporaryDirectory() as name, blank:
        folder = Path(name)
        if Child(folder, lambda: write_inputs(folder)).wait(60.0) != 0:
            raise SystemExit("the input files could not be written")
        load_modules(folder)
        every = make_commands(folder)
        for command in every.values():
            command.clear()
            command.rehearse()
        for number in range(kills):
            list(every.values())[number % len(every)].kill_once(rng)
            print(f"kill {number + 1} of {kills}", flush=True)
        return [
            {"command": title, **{count: command.counts[count] for count in COUNTS}, "seed": seed}
            for title, command in every.items()
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    write_counts(attack(arguments.kills, arguments.seed), "kills")


if __name__ == "__main__":
    main()
