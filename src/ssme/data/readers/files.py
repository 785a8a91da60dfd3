"""Files of scores, told by their suffix: CSV, TSV, Parquet, npz and npy. Never pickle.

An npz holds ``scores`` (n, M) or (n, M, K) and, as there are any, ``labels`` or ``y``, ``models``
or ``model_names``, ``classes``, ``weights``, ``ids`` and ``group_*``.
"""

from __future__ import annotations

import csv
import inspect
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ssme.data.readers.join import joined, joins_by_id
from ssme.data.readers.roles import GROUP_PREFIX, FrameOptions
from ssme.data.scoreset import ScoreSet
from ssme.data.validation import as_models, as_names
from ssme.errors import InputError, MissingExtraError
from ssme.wording import did_you_mean, listing

__all__ = ["READERS", "Reader", "open_table", "read"]

MISSING_TEXT = ("", "NA", "NaN", "nan", "None", "null", "<NA>")
DELIMITERS = {";": "';'", "\t": "'\\t'", "|": "'|'", ",": "','"}


@dataclass(frozen=True)
class Reader:
    """How one kind of file is opened: to a native frame or to named arrays."""

    kind: Literal["table", "arrays"]
    open: Callable[..., Any]
    delimiter: str | None = None


def read(
    path: str | Path, labels: object | None = None, *, delimiter: str | None = None, **options: Any
) -> ScoreSet:
    """A `ScoreSet` from a file; see `ScoreSet.read`."""
    file = Path(path)
    reader = _reader(file)
    if reader.kind == "table":
        from ssme.data.readers.frames import read_frame

        known = FrameOptions.__dataclass_fields__
        _refuse_unknown(options, [name for name in known if name != "delimiter"], file)
        frame = open_table(file, delimiter=delimiter, classes=options.get("classes"))
        parts = FrameOptions(**options, delimiter=delimiter)
        return read_frame(frame, labels, parts, source=str(file))
    if delimiter is not None:
        raise InputError(
            f"delimiter={delimiter!r} for {file}",
            allowed="delimiter for CSV only",
            fix="leave it out",
        )
    return _from_arrays(file, reader.open(file), labels, options)


def open_table(
    file: Path, *, delimiter: str | None = None, classes: Sequence[object] | None = None
) -> Any:
    """The native frame in a CSV, TSV or Parquet file."""
    reader = _reader(file)
    if reader.kind != "table":
        raise InputError(
            f"{file} holds arrays, not a table with ids",
            allowed=", ".join(s for s, r in READERS.items() if r.kind == "table"),
            fix="pass the labels as an array",
        )
    if reader.delimiter is None:
        if delimiter is not None:
            raise InputError(
                f"delimiter={delimiter!r} for {file}",
                allowed="delimiter for CSV only",
                fix="leave it out",
            )
        return reader.open(file)
    return reader.open(file, delimiter or reader.delimiter, classes)


def _reader(file: Path) -> Reader:
    if not file.exists():
        near = [p.name for p in file.parent.iterdir()] if file.parent.is_dir() else []
        raise InputError(
            f"no file {file}",
            allowed="an existing file",
            fix=f"{did_you_mean(file.name, near)}check the path",
        )
    if file.is_dir():
        raise InputError(f"{file} is a directory", allowed="a file", fix="name a file in it")
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(
            f"{file} has the suffix {file.suffix!r}",
            allowed=f"files ending in {', '.join(READERS)}",
            fix="save it as one of these, or load it and use ScoreSet.from_frame or from_arrays",
        )
    return reader


def _refuse_unknown(options: dict[str, Any], known: Any, file: Path) -> None:
    for name in options:
        if name not in known:
            raise InputError(
                f"option {name!r} does not apply to {file}",
                allowed=f"the options {listing(known, limit=30)}",
                fix=f"{did_you_mean(name, known)}leave it out",
            )


def _open_csv(file: Path, delimiter: str, classes: Sequence[object] | None) -> Any:
    import pandas

    if len(delimiter) != 1:
        raise InputError(
            f"delimiter={delimiter!r}",
            allowed="a single character",
            fix="such as ',' or ';' or '\\t'",
        )
    header = _csv_header(file, delimiter)
    _refuse_csv_header(file, header, delimiter)
    missing = [text for text in MISSING_TEXT if text not in (classes or ())]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(
                file,
                sep=delimiter,
                encoding="utf-8-sig",
                keep_default_na=False,
                na_values=missing,
                low_memory=False,
                skipinitialspace=True,
                index_col=False,
            )
    except UnicodeDecodeError as error:
        raise _not_utf8(file, error) from None
    except (pandas.errors.ParserError, pandas.errors.ParserWarning) as error:
        raise InputError(
            f"{file} is not a regular table: {str(error).strip()}",
            allowed="rows with as many fields as the header",
            fix="check quoting and stray delimiters",
        ) from None


def _csv_header(file: Path, delimiter: str) -> list[str]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
            header = next((row for row in rows if row), [])
    except UnicodeDecodeError as error:
        raise _not_utf8(file, error) from None
    if not header:
        raise InputError(
            f"{file} is empty", allowed="a header and at least one row", fix="check how it was made"
        )
    return header


def _refuse_csv_header(file: Path, header: list[str], delimiter: str) -> None:
    if len(header) == 1:
        for other, shown in DELIMITERS.items():
            if other in header[0] and other != delimiter:
                raise InputError(
                    f"{file} has one column {header[0][:60]!r} when split at "
                    f"{DELIMITERS.get(delimiter, repr(delimiter))}",
                    allowed="a column per model and a label column",
                    fix=f"pass delimiter={shown}",
                )
    for name in header:
        if name and header.count(name) > 1:
            raise InputError(
                f"{file} has {header.count(name)} columns named {name!r}",
                allowed="unique column names",
                fix="rename or remove the repeated columns",
            )


def _not_utf8(file: Path, error: UnicodeDecodeError) -> InputError:
    return InputError(
        f"{file} is not UTF-8: byte 0x{error.object[error.start]:02x} at position {error.start}",
        allowed="UTF-8 text",
        fix="save it as UTF-8, for example: iconv -f latin1 -t utf-8",
    )


def _open_parquet(file: Path) -> Any:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    try:
        return parquet.read_table(file)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(
            f"{file} is not a readable Parquet file: {str(error).splitlines()[0]}",
            allowed="Parquet files",
            fix="write it again, or read it with your own tools and use ScoreSet.from_frame",
        ) from None


def _open_arrays(file: Path) -> dict[str, Any]:
    """Named arrays; an npy has one, ``scores``."""
    name = None
    try:
        with file.open("rb") as stream:
            content = np.load(stream, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return {"scores": content}
            arrays = {}
            for name in content.files:
                arrays[name] = content[name]
            return arrays
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise _unloadable(file, error, name) from None


def _unloadable(file: Path, error: Exception, name: str | None = None) -> InputError:
    where = f"{file}, key {name!r}," if name else str(file)
    pickled = (
        "holds pickled Python objects" if name else "is no array file, or holds pickled objects"
    )
    reason = pickled if "pickle" in str(error) else f"is broken: {error}"
    return InputError(
        f"{where} {reason}",
        allowed="plain arrays of numbers, booleans or text; pickle is never loaded",
        fix="convert object arrays before saving, for example with .astype(str)",
    )


def _from_arrays(
    file: Path, arrays: dict[str, Any], labels: object | None, options: dict[str, Any]
) -> ScoreSet:
    """Arrays of an npz or npy, with ``options`` of `ScoreSet.from_arrays` put over them."""
    known = set(inspect.signature(ScoreSet.from_arrays).parameters) - {"scores", "labels"}
    parts = FrameOptions(
        **{name: options.pop(name, None) for name in ("label", "id", "weight", "models")}
    )
    _refuse_unknown(options, sorted(known | {"label", "id", "weight"}), file)
    if "scores" not in arrays:
        raise InputError(
            f"{file} has no array 'scores', only {listing(arrays)}",
            allowed="an array 'scores' of shape (n, M) or (n, M, K)",
            fix="save it with numpy.savez(path, scores=..., labels=..., models=...)",
        )
    stored = {
        "models": _find_array(file, arrays, None, "models", "model_names"),
        "classes": _find_array(file, arrays, None, "classes"),
        "weights": _find_array(file, arrays, parts.weight, "weights", "weight"),
        "ids": _find_array(file, arrays, parts.id, "ids", "id"),
    }
    stored = {
        name: values.tolist() if name in ("models", "classes") else values
        for name, values in stored.items()
        if values is not None
    }
    given = {**stored, "groups": _groups(file, arrays, options.pop("groups", None)), **options}
    if isinstance(labels, str) and parts.label is None:
        parts, labels = replace(parts, label=labels), None
    if labels is None:
        labels = _find_array(file, arrays, parts.label, "labels", "y")
    elif isinstance(labels, Path) and labels.suffix.lower() == ".npy":
        labels = _open_arrays(labels)["scores"]
    elif joins_by_id(labels):
        labels = joined(labels, given.get("ids"), parts, parts.id)
    chosen = None if parts.models is None else as_names(parts.models, "models")
    if chosen is not None and "models" not in given:
        default = as_models(None, arrays["scores"].shape[1] if arrays["scores"].ndim > 1 else 0)
        if not set(chosen) <= set(default):
            given["models"], chosen = chosen, None
    data = ScoreSet.from_arrays(arrays["scores"], labels, **given)
    assert data.layout is not None
    layout = replace(data.layout, source=str(file), label=parts.label)
    return (data if chosen is None else data.select(chosen)).replace(layout=layout)


def _groups(
    file: Path, arrays: dict[str, Any], groups: Mapping[str, object] | Sequence[str] | None
) -> Mapping[str, object]:
    """Groups given as values, or named: the arrays ``site`` or ``group_site``; else all there."""
    if isinstance(groups, Mapping):
        return groups
    stored = {name.removeprefix(GROUP_PREFIX): name for name in arrays if name[:6] == GROUP_PREFIX}
    if groups is None:
        return {name: arrays[array] for name, array in stored.items()}
    return {
        name: _find_array(file, arrays, stored.get(name, name))
        for name in as_names(groups, "groups")
    }


def _find_array(file: Path, arrays: dict[str, Any], named: str | None, *usual: str) -> Any:
    """The array ``named``, which must be there, or the one with a usual name; None without."""
    if named is not None:
        if named not in arrays:
            raise InputError(
                f"{file} has no array {named!r}",
                allowed=f"the arrays {listing(arrays, limit=20)}",
                fix=f"{did_you_mean(named, arrays)}name an array that is there",
            )
        return arrays[named]
    return _either(file, arrays, *usual)


def _either(file: Path, arrays: dict[str, Any], *names: str) -> Any:
    found = [name for name in names if name in arrays]
    if len(found) > 1:
        raise InputError(
            f"{file} holds both {' and '.join(map(repr, found))}",
            allowed="one of them",
            fix="save only one",
        )
    return arrays[found[0]] if found else None


READERS: dict[str, Reader] = {
    ".csv": Reader("table", _open_csv, delimiter=","),
    ".tsv": Reader("table", _open_csv, delimiter="\t"),
    ".parquet": Reader("table", _open_parquet),
    ".npz": Reader("arrays", _open_arrays),
    ".npy": Reader("arrays", _open_arrays),
}
"""Suffix -> reader. Adding a format is adding a line."""
