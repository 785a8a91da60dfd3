"""Where a command's words and files go.

Words for people go to stdout unless a machine-readable result was sent there (``--json -``); then,
and for notes and progress, they go to stderr. A file that exists is not overwritten unasked.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme import progress
from ssme.cli.options import WriteOptions
from ssme.errors import InputError
from ssme.wording import printable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Output", "csv_text", "json_text"]

STDOUT = Path("-")


@dataclass(frozen=True)
class Output:
    """The consoles and files of one command."""

    options: WriteOptions

    def __post_init__(self) -> None:
        if self.options.targets.count(STDOUT) > 1:
            raise InputError("two results were sent to stdout", allowed="one of them")
        for path in self.options.targets:
            self.check(path)

    def check(self, path: Path) -> None:
        """Refuse now what could not be written later."""
        if path == STDOUT:
            return
        if path.exists() and not self.options.force:
            raise InputError(f"{path} exists", fix="name another file, or add --force")
        if not path.parent.is_dir():
            raise InputError(f"{path}: there is no folder {path.parent}", fix="make it first")

    @cached_property
    def console(self) -> Console:
        """For the result people read."""
        from rich.console import Console

        aside = STDOUT in self.options.targets
        return Console(
            file=sys.stderr if aside else sys.stdout,
            no_color=self.options.no_color or None,
            quiet=self.options.quiet,
            highlight=False,
            soft_wrap=False,
        )

    @cached_property
    def notes(self) -> Console:
        """For remarks and progress."""
        from rich.console import Console

        return Console(
            file=sys.stderr,
            no_color=self.options.no_color or None,
            quiet=self.options.quiet,
            highlight=False,
        )

    def note(self, text: str) -> None:
        """One remark on stderr."""
        self.notes.print(printable(text), style="dim", markup=False)

    @contextmanager
    def working(self, title: str) -> Iterator[None]:
        """A progress bar with the time left, where a person is watching."""
        if self.options.quiet or not self.notes.is_terminal:
            yield
            return
        with progress.show(title, self.notes):
            yield

    def write(self, path: Path | None, text: str) -> None:
        """``text`` to ``path``; nothing where no path was asked for."""
        if path is None:
            return
        if path == STDOUT:
            sys.stdout.write(text)
            return
        path.write_text(text, encoding="utf-8", newline="")
        self.note(f"Wrote {path}")


def json_text(value: Any) -> str:
    """``value`` as JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as CSV with a header; NaN is an empty cell."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: "" if v is None or v != v else v for k, v in row.items()})
    return stream.getvalue()
