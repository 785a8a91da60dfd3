"""Where a command's words and files go.

Words for people go to stdout unless a machine-readable result was sent there (``--json -``); then,
and for notes and progress, they go to stderr. A result on stdout has the bytes that the file would
have. A file that exists is not overwritten unasked, and no two results go to one place.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme import progress, writing
from ssme.errors import InputError, name_argument

if TYPE_CHECKING:
    from rich.console import Console

    from ssme.show.sections import Section

STDOUT = Path("-")
TABLE_WIDTH = 80
"""Columns a table needs: a narrower terminal breaks its lines, but no number is cut."""


@dataclass(frozen=True)
class Output:
    """The consoles and files of one command; ``more`` are files by the option that names each.

    ``options`` are the values of those in `ssme.cli.options.REPORT` that the command has.
    """

    options: Mapping[str, Any]
    more: Mapping[str, Path | None] = field(default_factory=dict)

    @cached_property
    def targets(self) -> dict[str, Path]:
        """The files that the command will write, by the option that names each."""
        results = {name: self.options.get(name) for name in ("json", "csv", "html")}
        return {name: path for name, path in {**results, **self.more}.items() if path is not None}

    def __post_init__(self) -> None:
        seen: dict[Path, str] = {}
        for name, path in self.targets.items():
            place = _resolve_place(path)
            if place in seen:
                raise InputError(
                    f"`{seen[place]}` and `{name}` send two results to "
                    f"{'stdout' if place == STDOUT else path}",
                    hint="name another file for one of them",
                )
            seen[place] = name
            if place == STDOUT and sys.__stdout__ is None:
                problem = f"`{name}` sends its result to stdout, which is closed"
                hint = "name a file, or start the command with its stdout open"
                raise InputError(problem, hint=hint)
            if place != STDOUT:
                if name == "html" and path.suffix.lower() not in ("", ".html", ".htm"):
                    raise InputError(option=name, value=str(path), must="end in .html or .htm")
                with name_argument(name):
                    writing.refuse_existing(path, force=bool(self.options.get("force")))

    def refuse_inputs(self, files: Iterable[str | Path | None]) -> None:
        """Refuse to write over what the command reads, even with --force."""
        places = {_resolve_place(path): name for name, path in self.targets.items()}
        places.pop(STDOUT, None)
        for file in files:
            if file is not None and _resolve_place(Path(file)) in places:
                raise InputError(
                    f"{file} would be read and then overwritten by "
                    f"`{places[_resolve_place(Path(file))]}`",
                    hint="name another file for the result",
                )

    @cached_property
    def console(self) -> Console:
        """For the result people read."""
        results = (self.options.get(name) for name in ("json", "csv", "html"))
        aside = any(path is not None and _resolve_place(path) == STDOUT for path in results)
        console = _make_safe_console(sys.stderr if aside else sys.stdout, self.options)
        if console.width < TABLE_WIDTH:
            console.width = TABLE_WIDTH
        return console

    @cached_property
    def notes(self) -> Console:
        """For remarks and progress."""
        return _make_safe_console(sys.stderr, self.options)

    def say(self, *sentences: str) -> None:
        """A line of the result for each sentence, without markup; a path is not cut in two."""
        for sentence in sentences:
            for line in sentence.split("\n"):
                words = textwrap.wrap(
                    line, self.console.width, break_long_words=False, break_on_hyphens=False
                )
                self.console.print("\n".join(words), markup=False, soft_wrap=True)

    def show(self, *sections: Section) -> None:
        """Sections of the result."""
        from ssme.show.terminal import print_section

        for section in sections:
            print_section(self.console, section)

    def list(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        title: str | None = None,
        right: Sequence[str] = (),
    ) -> None:
        """A table of texts, whose cells are broken where they are too wide and never cut."""
        from rich.text import Text

        from ssme.show.terminal import make_table

        table = make_table(title, *columns, right=tuple(right))
        for row in rows:
            table.add_row(*map(Text, row))
        self.console.print(table)

    def note(self, text: str) -> None:
        """One remark on stderr."""
        self.notes.print(text, style="dim", markup=False, soft_wrap=True)

    @contextmanager
    def show_progress(self, title: str) -> Iterator[None]:
        """A progress bar with the time left, where a person is watching."""
        if self.options.get("quiet") or not self.notes.is_terminal:
            yield
            return
        with progress.show(title, self.notes):
            yield

    def save(self, facts: Any, rows: Any = None) -> None:
        """``facts`` as JSON and ``rows`` as CSV (default: the facts), where they were asked for.

        Either may be a function, which is called only then.
        """
        for name, found in (("json", facts), ("csv", facts if rows is None else rows)):
            if self.options.get(name) is not None:
                value = found() if callable(found) else found
                text = format_json(value) if name == "json" else writing.format_csv(list(value))
                self.write(self.options[name], text)

    def write(self, path: Path | None, text: str) -> None:
        """``text`` to ``path``; nothing where no path was asked for."""
        if path is None:
            return
        if _resolve_place(path) == STDOUT:
            sys.stdout.flush()
            sys.stdout.buffer.write(writing.encode_text(text))
            sys.stdout.buffer.flush()
            return
        writing.write_text(path, text)
        self.note(f"Wrote {path}")


def format_json(value: Any) -> str:
    """``value`` as JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _resolve_place(path: Path) -> Path:
    """Where ``path`` leads, so that two names of one file are known for one."""
    if path in (STDOUT, Path("/dev/stdout"), Path("/dev/fd/1")):
        return STDOUT
    return Path(os.path.realpath(path))


def _make_safe_console(file: Any, options: Mapping[str, Any]) -> Console:
    """A console that shows terminal escapes in names and does not obey them."""
    from rich.console import Console
    from rich.segment import Segment

    from ssme.wording import make_printable

    class SafeConsole(Console):
        def render(self, *arguments: Any, **named: Any) -> Iterator[Segment]:
            for segment in super().render(*arguments, **named):
                if segment.control or segment.text.isprintable():
                    yield segment
                else:
                    yield Segment(make_printable(segment.text), segment.style)

    return SafeConsole(
        file=file,
        no_color=options.get("no_color"),
        quiet=bool(options.get("quiet")),
        highlight=False,
        soft_wrap=False,
        emoji=False,
    )
