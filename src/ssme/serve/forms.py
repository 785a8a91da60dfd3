"""The form "What is in the file": its fields, the options they set, and errors in its words.

Fields, and the parts that columns can have, are those that `ssme.schema` declares. Each column has
one part. Models and groups are listed only where they differ from what is recognized, which keeps
the config as short as a person writes it.
"""

from __future__ import annotations

import ast
import csv
import errno
import io
import math
from collections.abc import Container, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ssme import config, options, schema, wording
from ssme.errors import InputError

Form = Mapping[str, Sequence[str]]
"""Field -> values, as the browser sent them; ``part-3`` is the part of the fourth column."""
Columns = Sequence[Mapping[str, Any]]
"""The columns that were found, with the part (``role``) that each was found to play."""

READING = options.list_declared(schema.ReadOptions)
PARTS = {each.name: each.part for each in READING if each.part}
ONE = tuple(each.name for each in READING if each.part and each.shape != "list")
MANY = tuple(each.name for each in READING if each.part and each.shape == "list")
"""Parts of one column, and of several."""
UNUSED = {"shown": "shown to annotators", "out": "not used"}
PARTS |= UNUSED
KEYS = {each.name: each.key for each in READING}
TITLES = {
    each.name: each.title or each.name.replace("_", " ").capitalize()
    for each in (*READING, *options.list_declared(schema.RunOptions))
    if each.title or not each.part
}
"""What the page calls a field."""
VALUES = {
    "wide": "one row per example",
    "long": "one row per score",
    "random": "at random",
    "by_class": "by class",
    "by_score": "by score",
}
"""Values of fields in words."""
WORDS = {name: f"the part “{words}”" for name, words in PARTS.items()}
WORDS |= dict.fromkeys(("labels", "labels_file", "y"), WORDS["label"]) | {"by": WORDS["groups"]}
WORDS["ignore"] = WORDS["out"]
WORDS |= {
    each.name: f"the field “{TITLES[each.name]}”"
    for each in (*READING, *options.list_declared(schema.RunOptions))
    if each.title
}
"""Arguments of Python in the words of the page."""
PHRASES: dict[tuple[str, str | None], str] = {("label", "'...'"): "which column is the label"}
for _name in ("labels", "labels_file"):
    PHRASES |= {(_name, "False"): "press “Use this” as it is", (_name, None): "a file of labels"}
"""Arguments with a value that the page says in another way."""
TELLING = ("system", "system_*", "model", "model_name", "agent", "judge", "judge_*")
"""Columns by whose names annotators would know who answered, or what judges say of it."""


def is_telling(column: str) -> bool:
    """Whether a column is hidden from annotators unless the owner shows it."""
    return any(fnmatchcase(column.lower(), pattern) for pattern in TELLING)


def list_fields(path: str) -> list[dict[str, Any]]:
    """The options of reading other than columns; those for this kind of file.

    ``kind`` is "flag", "choice" (one of ``choices``), "list", "class" or "text"; ``empty`` says
    what the reader does without the option; ``is_of_file`` is true of how the file is written.
    """
    suffix = Path(path).suffix.lower()
    return [
        {
            "name": each.name,
            "kind": "choice" if each.choices else each.shape,
            "choices": list(each.choices),
            "meaning": each.meaning,
            "empty": options.describe_default(each),
            "is_of_file": bool(each.files),
        }
        for each in READING
        if each.title or not each.part
        if each.name not in ("labels_file", "ignore")
        if not each.files or suffix in each.files
    ]


def parse_mapping(
    form: Form, columns: Columns, path: str, listed: Container[str] = ()
) -> tuple[dict[str, Any], dict[str, Any], list[str] | None]:
    """The sections ``read`` and ``run`` of a config, and the columns that annotators see.

    Lists of columns whose key is in ``listed`` are written even where they are as found.

    >>> columns = [{"name": "y", "role": "out"}, {"name": "bert", "role": "models"}]
    >>> form = {"part-0": ["label"], "part-1": ["models"], "classes": ["ham, spam"]}
    >>> parse_mapping(form, columns, "a.csv")
    ({'label': 'y', 'classes': ['ham', 'spam']}, {}, [])
    """
    parts = {
        column["name"]: first(form, f"part-{number}") or column["role"]
        for number, column in enumerate(columns)
    }
    named = {part: [name for name, own in parts.items() if own == part] for part in PARTS}
    read: dict[str, Any] = {}
    for part in ONE:
        if named[part]:
            read[KEYS[part]] = named[part][0] if len(named[part]) == 1 else named[part]
    if columns and "label" not in read:
        read["labels_file"] = False
    for part in MANY:
        found = [column["name"] for column in columns if column["role"] == part]
        as_found = named[part] == found and part not in ("answers", "ratings")
        if named[part] and (not as_found or KEYS[part] in listed):
            models = {column["name"]: column.get("model") or column["name"] for column in columns}
            read[KEYS[part]] = [*dict.fromkeys(models[name] for name in named[part])]
    ignored = [
        column["name"]
        for column in columns
        if parts[column["name"]] in UNUSED
        and (column.get("ignored") or column["role"] not in ("models", *UNUSED))
    ]
    if ignored:
        read["ignore"] = ignored
    for field in list_fields(path):
        value = _parse_field(field["kind"], first(form, field["name"]))
        if value not in ("", [], False):
            read.setdefault(field["name"], value)
    return read, _parse_run(form), named["shown"] if columns else None


def _parse_field(kind: str, text: str) -> Any:
    if kind == "flag":
        return bool(text)
    if kind in ("list", "classes"):
        cells = next(csv.reader([text], skipinitialspace=True), [])
        texts = [cell.strip() for cell in cells if cell.strip()]
        return texts if kind == "list" else [config.read_typed(text) for text in texts]
    return config.read_typed(text.strip()) if kind in ("class", "whole", "number") else text


def _parse_run(form: Form) -> dict[str, Any]:
    run: dict[str, Any] = {}
    if form.get("metric"):
        run["metrics"] = list(form["metric"])
    if first(form, "method") not in ("", "auto"):
        run["method"] = first(form, "method")
    text = first(form, "level").replace("%", "").strip()
    level = _parse_percent(text) if text else 0.95
    if level != 0.95:
        run["level"] = level
    return run


def _parse_percent(text: str) -> float:
    """A share that was typed in percent, with a decimal point or comma."""
    try:
        percent = options.parse_number(text.replace(",", "."))
    except ValueError:
        percent = math.nan
    if 1.0 < percent < 100.0:
        return round(percent / 100.0, 12)
    if 0.0 < percent <= 1.0:
        raise InputError(
            f"`level`: {text} would give intervals of {percent:g}%",
            hint=f"enter {100 * percent:g} for {100 * percent:g}%",
        )
    raise InputError(f"`level` must be between 1 and 100, got {text!r}", hint="enter 95 for 95%")


def fill_form(read: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """Field -> what the form shows of a mapping, but for the parts of columns (`find_parts`)."""
    found: dict[str, Any] = {
        name: _join(value) if isinstance(value, list) else value for name, value in read.items()
    }
    level = run.get("level", 0.95)
    return {
        **found,
        "metric": run.get("metrics"),
        "method": run.get("method", "auto"),
        "level": f"{100 * level:.12g}" if isinstance(level, float) else str(level),
    }


def _join(values: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue().replace(",", ", ") if '"' not in text.getvalue() else text.getvalue()


def find_parts(columns: Columns, read: Mapping[str, Any], shown: Sequence[str] | None) -> list[str]:
    """The part of each column: as the mapping says, else as it was found."""
    said: dict[str, str] = dict.fromkeys(read.get("ignore", ()), "shown")
    for part in (*ONE, *MANY):
        names = read.get(KEYS[part], ())
        said |= dict.fromkeys([names] if isinstance(names, str) else names, part)
    found = []
    for column in columns:
        part = str(said.get(column["name"], column["role"]))
        names = {column["name"], column.get("model")}
        if part == "models" and not names & {*read.get("models", names)}:
            part = "shown"
        if part in UNUSED and shown is not None:
            part = "shown" if column["name"] in shown else "out"
        found.append(part)
    return found


def first(form: Form, name: str) -> str:
    """The first value of a field; empty if the field is missing."""
    return (form.get(name) or [""])[0]


# -------------------------------------------------------------------------------------------------
# Errors


def spell_for_page(error: Exception, path: str = "") -> dict[str, Any]:
    """An error in the words of the page, and the fields that it speaks of.

    ``path`` is the file that was read, of which a person knows the name alone.

    >>> import errno
    >>> spell_for_page(OSError(errno.ENOSPC, "No space left on device", "/home/ada/x"))["got"]
    'The disk is full.'
    """
    fields: list[str] = []
    if isinstance(error, OSError):
        error = _blame_disk(error)
    elif not isinstance(error, InputError):
        return make_error(wording.make_printable(str(error)))

    def spell(name: str, value: str | None) -> str | None:
        words = WORDS.get(name)
        if words is None:
            return None
        fields.append(name)
        if (name, value) in PHRASES:
            return PHRASES[name, value]
        if value in (None, "'...'", "[...]"):
            return words
        return f"{words} = {_spell_list(value) if value.startswith('[') else value}"

    problem, *more = (text.replace("pass press", "press") for text in error.list_sentences(spell))
    if problem.split(" ", 1)[0].isalpha():
        problem = problem[:1].upper() + problem[1:]
    hint = " ".join(more)
    if path:
        problem, hint = (text.replace(path, Path(path).name) for text in (problem, hint))
    return make_error(problem, hint, list(dict.fromkeys(fields)))


def make_error(got: str, fix: str = "", fields: Sequence[str] = ()) -> dict[str, Any]:
    """An error as pages and scripts show it: what is wrong, what to do, the fields at fault."""
    return {"got": got, "fix": fix, "fields": [*fields]}


def _spell_list(value: str) -> str:
    """A list as it is typed into a field: ``['ham', 'spam']`` as “ham, spam”."""
    try:
        items = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return f"“{', '.join(map(str, items))}”"


def _blame_disk(error: OSError) -> InputError:
    """What the system says of a file, without the folders that lead to it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InputError(
            "the disk is full.",
            hint="make room and do it again; nothing that was stored before is lost",
        )
    name = f" ({Path(str(error.filename)).name})" if error.filename else ""
    said = f"{error.strerror or error}{name}"
    return InputError(f"a file could not be read or written: {said}", hint="try it again")
