"""npz and npy files: named arrays of numbers, booleans or text. Pickled objects are never loaded.

An npz contains ``scores`` (n, M) or (n, M, K) and optionally ``labels`` or ``y``, ``models``
or ``model_names``, ``classes``, ``weights``, ``ids``, ``clusters`` and ``group_*``. ``ordered`` is
False where the order of the classes says nothing. The declared size of an array is checked against
the bytes in the file before memory is taken for it.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format

from ssme.data import grouping, judges, scoreset
from ssme.data.arrays import GROUP_PREFIX, Layout, as_models, check_arrays
from ssme.data.labels import order_classes
from ssme.data.readers import columns, rows, sources
from ssme.data.values import make_plain
from ssme.errors import InputError, name_argument, translate_foreign_errors
from ssme.schema import ReadOptions
from ssme.wording import quote, suggest_nearest

ONLY_TABLES = ("layout", "pattern", "model", "class_", "score", "ignore")
"""Options that say nothing about arrays."""
UNPACKED_BYTES = 1 << 30
UNPACKED_TIMES = 100
"""Arrays may unpack to the larger of this many bytes and this many times the size of the file."""
ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
REPAIR = "write the file again with numpy.savez or numpy.save"
CURE = "pickle is never loaded: convert object arrays before saving, for example with .astype(str)"


def read_arrays(file: Path, labels: object | None, options: dict[str, Any]) -> scoreset.ScoreSet:
    """The set in an npz or npy; ``weights``, ``groups``, ``ids`` and ``clusters`` may be values."""
    values: dict[str, Any] = {
        name: options.pop(name) for name in ("weights", "ids", "clusters") if name in options
    }
    if isinstance(options.get("groups"), Mapping):
        values["groups"] = options.pop("groups")
    given = ReadOptions.of(options, f"the reader of {file}")
    sources.refuse_file_options(given, "", f"{file}, which contains arrays")
    for name in ONLY_TABLES:
        if getattr(given, name) is not None:
            problem = f"`{name}={getattr(given, name)!r}` was given and {file} contains arrays"
            raise InputError(problem, hint="leave it out: it is for tables")
    return _ArraySet(file, given).read(given.labels_file if labels is None else labels, values)


class _ArraySet:
    """The parts of a `ScoreSet` among the arrays of a file."""

    def __init__(self, file: Path, options: ReadOptions) -> None:
        self.file, self.options, self.arrays = file, options, open_arrays(file)
        if "scores" not in self.arrays:
            problem = f"{file} has no array 'scores', only {quote(self.arrays)}"
            hint = "save it with numpy.savez(path, scores=..., labels=..., models=...)"
            raise InputError(problem, hint=hint)

    def read(self, labels: object | None, values: Mapping[str, Any]) -> scoreset.ScoreSet:
        given, arrays = self.options, self.arrays
        label = labels if isinstance(labels, str) else given.label
        ids = values.get("ids", self.find(given.id, "ids", "id"))
        weights = values.get("weights", self.find(given.weight, "weights", "weight"))
        names, chosen = self.find_models()
        scores, classes = arrays["scores"], given.classes
        stored = self.find(None, "classes")
        if classes is None and stored is not None:
            classes = stored.tolist()
            if given.positive is not None and scores.shape[2:] == (2,):
                named = order_classes(classes, positive=given.positive)
                scores, classes = scores[:, :, [classes.index(name) for name in named]], named
        unordered = "ordered" in arrays and not arrays["ordered"].any() and not given.lists_classes
        if labels is None or isinstance(labels, str):
            found, design = self.find(label, "labels", "y"), self.find_design()
        elif isinstance(labels, Path) and labels.suffix.lower() == ".npy":
            with name_argument("labels"):
                sources.find_reader(labels)
                found, design = open_arrays(labels)["scores"], self.find_design()
        elif rows.joins_by_id(labels):
            table = rows.LabelTable(labels, ids, given, given.id)
            own = self.find(given.label if given.label in arrays else None, "labels", "y")
            found, design = table.join_labels(own), table.join_design()
        else:
            found, design = labels, self.find_design()
        fields = check_arrays(
            scores,
            found,
            replace(given, models=names, classes=classes),
            weights=weights,
            groups=values.get("groups", self.find_groups()),
            ids=ids,
            clusters=values.get("clusters", self.find(given.cluster, "clusters", "cluster")),
            design=design,
            layout=Layout(
                "arrays", label=label, source=str(self.file), order="unknown" if unordered else None
            ),
        )
        data = scoreset.ScoreSet(**fields, judges=self.find_judges(fields))
        return data if chosen is None else data.select(chosen)

    def find(self, named: str | None, *usual: str) -> Any:
        """The array ``named``, which must exist, or the one with a usual name; None without."""
        if named is not None:
            if named not in self.arrays:
                problem = f"{self.file} has no array {named!r}, only {quote(self.arrays, limit=20)}"
                hint = f"{suggest_nearest(named, self.arrays)}name one that exists"
                raise InputError(problem, hint=hint)
            return self.arrays[named]
        found = [name for name in usual if name in self.arrays]
        if len(found) > 1:
            problem = f"{self.file} contains both {' and '.join(map(repr, found))}"
            raise InputError(problem, hint="save only one")
        return self.arrays[found[0]] if found else None

    def find_models(self) -> tuple[list[str] | None, tuple[str, ...] | None]:
        """Names of all models, and those that were chosen among them.

        Where the file has no names, models are called model_1, model_2, ...; other names that are
        given name them.
        """
        stored, wanted = self.find(None, "models", "model_names"), self.options.models
        if isinstance(wanted, Mapping):
            problem = f"`models` is a mapping and {self.file} contains arrays"
            raise InputError(problem, hint="list the names of the models to evaluate")
        if stored is not None or wanted is None:
            return None if stored is None else [str(name) for name in stored.ravel()], wanted
        scores = self.arrays["scores"]
        numbered = as_models(None, scores.shape[1] if scores.ndim > 1 else 0)
        return (None, wanted) if set(wanted) <= set(numbered) else (list(wanted), None)

    def find_groups(self) -> dict[str, Any]:
        """Groups named by the caller, as ``site`` or ``group_site``; else all there are."""
        stored = {
            name.removeprefix(GROUP_PREFIX): name
            for name in self.arrays
            if name.startswith(GROUP_PREFIX)
        }
        if self.options.groups is None:
            return {name: self.arrays[array] for name, array in stored.items()}
        named = grouping.list_named_columns(self.options.groups, [*stored, *self.arrays])
        return {name: self.find(stored.get(name, name)) for name in named}

    def find_design(self) -> Any:
        """Weights of the labels, in the array that was named or has the usual name."""
        named, usual = columns.find_design_column(self.options), columns.USUAL_NAMES["design"]
        found = self.find(named, *usual)
        if named is None and found is not None:
            columns.refuse_two_designs(self.options, usual[0], str(self.file))
        return found

    def find_judges(self, fields: Mapping[str, Any]) -> dict[str, judges.Judge]:
        """The models that give answers or ratings, as `ScoreSet.save` wrote them."""
        arrays = self.arrays
        if "judges" not in arrays:
            return {}
        kinds, models = [str(kind) for kind in arrays["judges"].ravel()], fields["models"]
        known = len(kinds) == len(models) and set(kinds) <= {"", "answers", "ratings"}
        if not known or ("ratings" in kinds and "grades" not in arrays):
            problem = (
                f"{self.file} has 'judges' {quote(kinds)}, not kinds of judges, or no 'grades'"
            )
            raise InputError(problem, hint="save the set with ScoreSet.save")
        grades = tuple(map(make_plain, arrays["grades"].tolist())) if "grades" in arrays else ()
        cut = grades[int(arrays["cut"])] if "cut" in arrays else None
        each = {
            "answers": judges.Judge("answers", tuple(fields["classes"])),
            "ratings": judges.Judge("ratings", grades, cut),
        }
        return {name: each[kind] for name, kind in zip(models, kinds, strict=True) if kind}


# -------------------------------------------------------------------------------------------------
# The arrays in a file.


def open_arrays(file: Path) -> Mapping[str, np.typing.NDArray[Any]]:
    """The arrays in an npz, loaded when asked for; an npy has one, ``scores``."""
    with file.open("rb") as content:
        mark = content.read(6)
    if mark[:4] in ZIP_MARKS:
        return ArrayFile(file)
    if mark != npy_format.MAGIC_PREFIX:
        raise InputError(f"{file} is not an array file, or contains pickled objects", hint=CURE)
    with translate_foreign_errors(f"reading {file}", hint=REPAIR), file.open("rb") as content:
        return {"scores": _load(content, file.stat().st_size, str(file))}


class ArrayFile(Mapping[str, np.typing.NDArray[Any]]):
    """The arrays of an npz by name; each is read when it is asked for first."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._loaded: dict[str, np.typing.NDArray[Any]] = {}
        self._allowed = max(UNPACKED_BYTES, UNPACKED_TIMES * file.stat().st_size)
        with (
            translate_foreign_errors(f"reading {file}", hint=REPAIR),
            zipfile.ZipFile(file) as archive,
        ):
            members = archive.infolist()
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        if len(self._members) < len(members):
            raise InputError(f"{file} contains several arrays under one name", hint=REPAIR)

    def __getitem__(self, name: str) -> np.typing.NDArray[Any]:
        if name not in self._loaded:
            self._loaded[name] = self._read(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def _read(self, name: str) -> np.typing.NDArray[Any]:
        member, where = self._members[name], f"{self._file}, key {name!r},"
        self._allowed -= member.file_size
        if self._allowed < 0:
            problem = f"{where} unpacks to {member.file_size:,} bytes, too many for its file"
            hint = "if you trust it, load it with numpy and use ScoreSet.from_arrays"
            raise InputError(problem, hint=hint)
        with (
            translate_foreign_errors(f"reading {where}", hint=REPAIR),
            zipfile.ZipFile(self._file) as archive,
            archive.open(member) as content,
        ):
            array = _load(content, member.file_size, where)
            content.read(1)  # at its end the archive compares the checksum
        return array


def _load(content: IO[bytes], size: int, where: str) -> np.typing.NDArray[Any]:
    """The array in ``content``, which has ``size`` bytes."""
    headers: dict[tuple[int, int], Any] = {
        (1, 0): npy_format.read_array_header_1_0,
        (2, 0): npy_format.read_array_header_2_0,
    }
    version = npy_format.read_magic(content)
    if version not in headers:
        problem = f"{where} is in version {version[0]}.{version[1]} of the npy format"
        raise InputError(problem, hint=REPAIR)
    shape, fortran, dtype = headers[version](content)
    if dtype.hasobject:
        raise InputError(f"{where} contains pickled Python objects", hint=CURE)
    count = math.prod(shape)
    there = size - content.tell()
    if count * dtype.itemsize != there or (count and not dtype.itemsize):
        raise InputError(
            f"{where} declares {dtype} values of shape {shape}, which need "
            f"{count * dtype.itemsize:,} bytes, and has {there:,}",
            hint=REPAIR,
        )
    if count == 0:
        return np.empty(shape, dtype)
    values = np.frombuffer(content.read(there), dtype=dtype)
    return values.reshape(shape, order="F" if fortran else "C")
