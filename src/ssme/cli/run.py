"""From a command line and a config file to a `RunSpec`, and to the scores it reads."""

from __future__ import annotations

import ast
import dataclasses
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.cli.options import ENGINE, READING, RUN, parse_flags
from ssme.errors import InputError, name_argument, spell_options
from ssme.schema import ReadOptions

if TYPE_CHECKING:
    from ssme.cli.output import Output
    from ssme.data.readers.tables import Table
    from ssme.data.scoreset import ScoreSet
    from ssme.options import Option
    from ssme.results.evaluation import Evaluation
    from ssme.spec import RunSpec


MANY_NUMBERS = 20
"""More different numbers than this in a column of groups are better put into bins."""


def gather(given: Mapping[str, Any], options: Iterable[Option]) -> RunSpec:
    """The run that is asked for with ``options``: the command line over the config file."""
    from ssme.spec import RunSpec

    config = given.get("config")
    with name_argument("config"):
        kept = None if config is None else RunSpec.load(config)
    found = parse_flags(given, options)
    files = [_restore_address(each) for each in found.pop("source", [])]
    asked = {each.name: found[each.name] for each in (*RUN, *ENGINE) if each.name in found}
    reading = {each.name: found[each.name] for each in READING if each.name in found}
    if "options" in asked:
        method = asked["method"] if "method" in asked else (kept or RunSpec()).method_name
        before = {} if kept is None else kept.options
        asked["options"] = {**before, **_read_options(method, asked["options"])}
    if files:
        asked["source"] = files[0] if len(files) == 1 else tuple(files)
    elif kept is None or kept.source is None:
        raise InputError("no FILE was given", hint="name the file that contains the scores")
    if kept is None:
        return RunSpec(read=reading, **asked)  # no other method than the one asked for is imported
    return dataclasses.replace(kept, read={**kept.read, **reading}, **asked)


def list_inputs(spec: RunSpec) -> list[str]:
    """Files that are read, on this machine."""
    labels = spec.read.get("labels_file")
    sources = (spec.source,) if isinstance(spec.source, str) else spec.source or ()
    apart = [str(labels)] if isinstance(labels, Path) else []
    if spec.engine == "memory":
        return [*sources, *apart]
    from ssme.stream.files import find_files

    local = [each for each in sources if "://" not in each or each.startswith("file:")]
    return [file.path for file in find_files(local)] + apart


def read_noted(spec: RunSpec, output: Output) -> ScoreSet:
    """The scores, with notes on what was recognized; ``output`` must not overwrite what is read."""
    output.refuse_inputs(list_inputs(spec))
    with output.show_progress("reading"), point_to_doctor(spec):
        data = read_scores(spec)
    for sentence in say_recognized(spec, data):
        output.note(sentence)
    return data


def list_advised(error: InputError) -> dict[str, Any]:
    """The options with values that the hint of an error advises."""
    advised: dict[str, Any] = {}

    def note(name: str, value: str | None) -> str:
        with suppress(ValueError, SyntaxError):
            if value is not None and "..." not in value:
                # that no row is labeled is said in place of the file of labels
                name = "labels_file" if name == "labels" else name
                advised.setdefault(name, ast.literal_eval(value))
        return ""

    spell_options(error.hint or "", note)
    return advised


def open_scores_table(spec: RunSpec) -> Table | None:
    """The table of one file; None for arrays and for several files."""
    from ssme.data.readers.sources import find_local_path, find_reader, open_table
    from ssme.data.readers.tables import Table

    if not isinstance(spec.source, str):
        return None
    file = find_local_path(spec.source)
    if find_reader(file, spec.read.get("format")).open is None:
        return None
    frame = open_table(file, ReadOptions.of(spec.read, f"the reader of {file}"))
    return Table(frame, str(spec.source))


def open_unused(spec: RunSpec, data: ScoreSet) -> Table | None:
    """The table of one file of which ``data`` leaves columns out; None without such columns."""
    all_used = data.layout is None or not data.layout.ignored
    return None if all_used else open_scores_table(spec)


@contextmanager
def point_to_doctor(spec: RunSpec) -> Iterator[None]:
    """Let an error about files that can be read name the command that lists all problems."""
    try:
        yield
    except InputError as error:
        files = [spec.source] if isinstance(spec.source, str) else list(spec.source or ())
        if files and all(Path(each).exists() for each in files):
            error.add_note(f"`ssme doctor {shlex.join(files)}` lists all problems at once.")
        raise


def read_scores(spec: RunSpec) -> ScoreSet:
    """The scores, refused where no label column is named or recognized."""
    from ssme.run import read_scores

    data = read_scores(spec)
    if (
        spec.read.get("labels_file") is not False
        and data.n_labeled == 0
        and data.layout is not None
    ):
        # no label was found though a column that was left out may hold them
        layout = data.layout
        if layout.label is None and layout.labels_source is None and layout.ignored:
            raise InputError(
                "no label column was named or recognized",
                hint="name one of the columns left out with --label, or say --no-labels: "
                + ", ".join(map(repr, layout.ignored)),
            )
    return data


def evaluate_scores(spec: RunSpec, data: ScoreSet, **changes: Any) -> Evaluation:
    """Evaluate ``data``; ``changes`` (such as another method) go over the spec."""
    import hashlib

    from ssme.run import execute

    result, digest = execute(dataclasses.replace(spec, **changes), data), None
    if isinstance(spec.source, str) and Path(spec.source).is_file():
        with Path(spec.source).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return dataclasses.replace(result, settings={**result.settings, "file_sha256": digest})


def say_recognized(spec: RunSpec, data: ScoreSet) -> list[str]:
    """Sentences on what was recognized without being named."""
    from ssme.data.readers.columns import USUAL_NAMES

    layout = data.layout
    if layout is None:
        return []
    said = []
    if layout.label and "label" not in spec.read:
        said.append(f"Label column: {layout.label!r}, by its name (--label chooses another).")
    if layout.id and "id" not in spec.read and layout.id.lower() not in USUAL_NAMES["id"]:
        said.append(f"Id column: {layout.id!r}, by its values (--id chooses another).")
    named = {"models", "pattern", "answers", "ratings"} & set(spec.read)
    if layout.columns and not named and not data.judges:
        names = ", ".join(data.models[:8]) + (", ..." if data.n_models > 8 else "")
        said.append(f"Models: {names} (--models chooses others).")
    said += _say_meaning(data)
    if layout.groups and "groups" not in spec.read:
        said.append(f"Group columns: {', '.join(layout.groups)}, by their names.")
    said += [
        f"Group column {name!r} has {count:,} numbers; {name}:quantiles=4 makes four groups."
        for name, count in _count_numbers(data).items()
        if count > MANY_NUMBERS and name in spec.read.get("groups", ())
    ]
    ignored = [name for name in layout.ignored if name not in layout.skipped]
    if ignored:
        said.append(f"Columns left out: {', '.join(ignored)}.")
    if data.design.rounds is not None:
        drawn, left = data.design.rounds.count_drawn(data.labels)
        if drawn and left == drawn:
            said.append(f"None of the {drawn:,} suggested rows has a label yet.")
        elif left:
            said.append(
                f"Of {drawn:,} suggested rows {left:,} {'has' if left == 1 else 'have'} no label. "
                "Such rows are taken to be left out by chance: leave none out because it is hard."
            )
    return said


def _count_numbers(data: ScoreSet) -> dict[str, int]:
    """How many different values each column of groups has whose values are all numbers."""
    found = {}
    for name, values in data.groups.items():
        different = {str(value) for value in values}
        with suppress(ValueError):
            found[name] = len({float(value) for value in different})
    return found


def _say_meaning(data: ScoreSet) -> list[str]:
    """Which class is positive and which grades count as it, where it is not declared."""
    from ssme.data.scoreset import describe_positive

    said = []
    guessed = data.layout is not None and data.layout.order == "known"
    if describe_positive(data) and guessed:
        scores = "" if len(data.judges) == data.n_models else ", whose probability the scores are"
        said.append(
            f"Positive class: {data.classes[1]!r}{scores} (--positive {data.classes[0]} makes it "
            "the other one)."
        )
    for judge in data.judges.values():
        if judge.cut is not None:
            scale = ", ".join(map(str, judge.values[:8])) + (", ..." if judge.values[8:] else "")
            said.append(
                f"Grades from {judge.cut} on, of {scale}, count as {data.classes[1]!r} (--cut "
                "names the lowest that does, --grades lists all)."
            )
            break
    return said


def _read_options(method: str, texts: dict[str, str]) -> dict[str, Any]:
    """Options of ``method`` from their texts on the command line."""
    from ssme.methods.registry import find_method_class
    from ssme.options import list_declared

    with name_argument("method"):
        known = {each.name: each for each in list_declared(find_method_class(method))}
    return {
        name: _read_option(known[name], text) if name in known else text
        for name, text in texts.items()
    }


def _read_option(of: Option, text: str) -> Any:
    """The value that ``text`` spells; an error names the option as it was written."""
    from ssme.options import parse_text

    try:
        return parse_text(of, text)
    except InputError:
        if of.python_only:
            raise
        raise InputError(
            option=f"--options {of.name}", value=text, must=f"be {of.kind.describe()}"
        ) from None


def _restore_address(file: Path) -> str:
    """A path as typed: ``s3://...`` has lost a slash by being taken for a path."""
    local = re.sub(r"^file:/(?!/)", "file:///", str(file))
    return re.sub(r"^(\w{2,}):/(?!/)", r"\1://", local)
