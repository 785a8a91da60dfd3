"""Fuzz what must not matter: order, names, file format and precision of the same data.

    python -m benchmarks.fuzz.metamorphic [--cases 5000] [--seed 0] [--workers 1] [--case 17]

A case draws a relation, a small table and a question (method, metrics, threshold, ...), all from
its own seed. The question is asked of the table and of the same data in another form. Both have to
be refused, or every number, the chosen model, the warnings and the suggested rows have to be equal
(where both are refused, most cases go on with another table and question):

- to 1e-9, or 1e-5 where scores lose digits in single precision;
- where the relation moves rows, models, classes or groups, random draws fall on other ones. What
  depends on the seed (it is asked twice to find out) may then differ by the noise of the draws. If
  it differs by more, both are asked with more seeds, and with their rows in other orders unless
  that is the relation, and the means have to be equal within their Monte-Carlo error.

Methods, metrics and file formats are those of the registries, so that a new one is covered.
Writes ``benchmarks/results/fuzz_metamorphic.csv``: counts by relation, method, metric and format.
"""

from __future__ import annotations

import atexit
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from tests.written import Columns, make_frame, write_table, write_text

import ssme
from benchmarks.fuzz.tables import Hang, limit_time, make_parser, split_cases, spread, write_counts
from ssme import InputError, ScoreSet, fitting
from ssme.data.readers.sources import READERS
from ssme.methods.registry import find_method_class, method_names
from ssme.metrics import metric_names

Back = dict[str, dict[Any, Any]]
OUTCOMES = ("same", "refused", "different", "uncaught", "hang")
EXACT, SINGLE = 1e-9, 1e-5
"""Largest differences: of the same numbers, and of numbers with the digits of single precision."""
NOISE = 0.1
"""Largest difference of what depends on the seed, as a share of the interval's width, up to which
its means over many seeds are not compared, which takes long."""
SEEDS = 12
"""With how many seeds both are asked where noise may be the reason of a difference."""
ERRORS = 6.0
"""Largest difference of two means over the seeds, in its standard errors."""
STREAMS = 0.3
"""Share of cases about streams."""
REFUSED = 0.1
"""Share of the cases that end where both are refused; the others draw another table."""
EXPENSIVE = {"auto": 0.5, "answers": 0.5, "ssme": 0.3, "ssme_m": 0.3}
"""How often methods that take long are drawn; the others are drawn with 1."""
FEW = {"n_draws": 100, "n_boot": 100, "n_bootstrap": 2}
"""Options of methods that set the number of draws."""

NAMES: tuple[tuple[tuple[Hashable, ...], tuple[Hashable, ...]], ...] = (
    ((0, 1), ("no", "yes")),
    ((False, True), (0, 1)),
    (("no", "yes"), (False, True)),
    (("negative", "positive"), (0, 1)),
    (("dog", "cat"), ("ant", "bee")),
    ((10, 20), (0, 1)),
    ((0, 1, 2, 3), (5, 7, 11, 13)),
    ((10, 20, 30, 40), (0, 1, 2, 3)),
    (("low", "medium", "high", "top"), ("d", "a", "c", "b")),
)
"""Classes in ascending order, and other names for them."""
PAIRS = 6
"""How many of these are two classes."""


@dataclass(frozen=True)
class World:
    """A wide table, what is said about it and what is asked.

    ``models`` maps each model to its columns: {class: column}, or {None: column} where one column
    has all that the model says. ``kind`` is what these hold: the probability of the positive class
    ("score"), that of each class ("classes"), a class ("answers") or a grade ("ratings"). ``read``
    are reading options; ``named`` says that all columns are named too.
    """

    columns: Columns
    models: dict[str, dict[Hashable, str]]
    kind: str
    classes: tuple[Hashable, ...]
    other_classes: tuple[Hashable, ...]
    read: dict[str, Any]
    named: bool
    question: dict[str, Any]
    truth: list[Any]
    single: bool = False
    label_file: bool = False
    joined: bool = False
    engine: dict[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(self.columns["label"])

    @property
    def groups(self) -> list[str]:
        return [name for name in self.columns if name.startswith("group_")]

    @property
    def score_columns(self) -> list[str]:
        return [column for of in self.models.values() for column in of.values()]


def draw_world(rng: np.random.Generator) -> World:
    """A table of few rows, a part of them labeled."""
    n, n_models = int(rng.integers(30, 121)), int(rng.integers(1, 5))
    k = int(rng.choice([2, 2, 2, 3, 4]))
    named = int(rng.integers(PAIRS) if k == 2 else rng.integers(PAIRS, len(NAMES)))
    classes = NAMES[named][0][:k]
    codes = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    kinds = ("score", "classes", "answers", "ratings") if k == 2 else ("classes", "answers")
    kind = str(rng.choice(kinds, p=(0.5, 0.2, 0.2, 0.1) if k == 2 else (0.7, 0.3)))
    shares = _draw_shares(codes, n_models, k, rng)
    columns: Columns = {}
    if rng.random() < 0.8:
        text = rng.random() < 0.5
        columns["id"] = [f"row {i}" if text else 1000 + i for i in range(n)]
    models: dict[str, dict[Hashable, str]] = {}
    for m in range(n_models):
        name = ("bert", "gpt", "tree", "ada")[m]
        models[name], values = _make_columns(name, kind, shares[:, m], classes)
        columns |= values
    if rng.random() < 0.25:
        for of in models.values():
            silent = rng.random(n) < 0.05
            for column in of.values():
                columns[column] = [
                    None if gone else value
                    for value, gone in zip(columns[column], silent, strict=True)
                ]
    truth = [classes[code] for code in codes]
    labeled = rng.random(n) < rng.choice([0.3, 0.6, 1.0])
    labeled[: 2 * k] = True
    columns["label"] = [y if known else None for y, known in zip(truth, labeled, strict=True)]
    if rng.random() < 0.25:
        columns["weight"] = [float(w) / 4 for w in rng.integers(1, 9, n)]
    if rng.random() < 0.1:
        columns["label_weight"] = [float(w) / 2 for w in rng.integers(2, 9, n)]
    if rng.random() < 0.15:
        patients = rng.integers(0, max(3, n // 3), n)
        columns["cluster"] = [f"patient {i}" for i in patients]
    if rng.random() < 0.4:
        sites = ("north", "south", None) if rng.random() < 0.5 else ("west", "east")
        columns["group_site"] = [sites[i] for i in rng.integers(0, len(sites), n)]
    if rng.random() < 0.15:
        columns["group_ward"] = [int(i) for i in rng.integers(7, 10, n)]
    if rng.random() < 0.1:
        columns["note"] = [f"remark {i}" for i in rng.integers(0, 10**6, n)]
    if rng.random() < 0.1:
        columns["smoker"] = [int(i) for i in rng.integers(0, 2, n)]
    read: dict[str, Any] = {}
    told = rng.random()
    if told < 0.4:
        read["classes"] = list(classes)
    elif told < 0.6 and k == 2:
        read["positive"] = classes[1]
    question = _draw_question(k, kind, rng)
    told_columns = bool(rng.random() < 0.5 or kind in ("answers", "ratings"))
    others = NAMES[named][1][:k]
    return World(columns, models, kind, classes, others, read, told_columns, question, truth)


def _draw_shares(
    codes: np.ndarray, n_models: int, k: int, rng: np.random.Generator
) -> list[list[Any]] | np.ndarray:
    """Probabilities (n, M, K): of two decimals, of multiples of 1/256, or of all digits."""
    skill = rng.uniform(0.3, 2.5, n_models)
    logits = rng.normal(size=(len(codes), n_models, k))
    logits += skill[:, None] * (codes[:, None, None] == np.arange(k))
    shares = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    steps = int(rng.choice([0, 100, 256]))
    if steps == 0:
        return shares
    whole = np.floor(shares * steps)
    whole[:, :, 0] += steps - whole.sum(axis=2)
    return whole / steps


def _make_columns(
    name: str, kind: str, shares: Any, classes: tuple[Hashable, ...]
) -> tuple[dict[Hashable, str], Columns]:
    """The columns of one model by class, and their values."""
    if kind == "classes":
        own: dict[Hashable, str] = {each: f"{name}:{each}" for each in classes}
        return own, {own[each]: shares[:, k].tolist() for k, each in enumerate(classes)}
    if kind == "score":
        return {None: name}, {name: shares[:, 1].tolist()}
    if kind == "answers":
        return {None: name}, {name: [classes[k] for k in shares.argmax(axis=1)]}
    return {None: name}, {
        name: [int(g) for g in np.digitize(shares[:, 1], (0.2, 0.4, 0.6, 0.8)) + 1]
    }


def _draw_question(k: int, kind: str, rng: np.random.Generator) -> dict[str, Any]:
    """Options of `ssme.evaluate`."""
    names = method_names()
    chance = np.array([EXPENSIVE.get(name, 1.0) for name in names])
    method = names[rng.choice(len(names), p=chance / chance.sum())]
    made = find_method_class(method)
    own = {each.name for each in fields(made)}
    options = {name: value for name, value in FEW.items() if name in own}
    known = list(metric_names(k))
    if made.spec.metrics is not None and rng.random() < 0.9:
        known = [name for name in made.spec.metrics if name in known]
    elif kind in ("answers", "ratings") and rng.random() < 0.8:
        known = [
            name
            for name in known
            if name in ("accuracy", "balanced_accuracy", "recall", "f1_macro")
        ]
    picked = [known[i] for i in rng.permutation(len(known))[: rng.integers(1, 4)]]
    question: dict[str, Any] = {"method": method, "options": options, "metrics": picked}
    if k == 2 and rng.random() < 0.2:
        question["threshold"] = float(rng.choice([0.3, 0.5, 0.7]))
    if k == 2 and rng.random() < 0.1:
        question["metrics"] = [*picked, "accuracy@0.3"]
    question["level"] = float(rng.choice([0.9, 0.95]))
    return question


# relations: the world changed, names in its results to be changed back, and whether draws may move


@dataclass(frozen=True)
class Changed:
    """A world in another form, and in ``back`` the names to be changed back in its results.

    ``way`` is how it is given; None: as the world before. ``moves`` says that random draws may
    fall on other rows, models, classes or groups.
    """

    world: World
    back: Back = field(default_factory=dict)
    way: str | None = None
    moves: bool = False
    tolerance: float = EXACT


def shuffle_rows(world: World, way: str, rng: np.random.Generator) -> Changed:
    return Changed(reorder(world, rng), moves=True)


def reorder(world: World, seed: np.random.Generator | list[int]) -> World:
    """The same rows in another order."""
    order = np.random.default_rng(seed).permutation(world.n_rows)
    columns = {name: [values[i] for i in order] for name, values in world.columns.items()}
    return replace(world, columns=columns, truth=[world.truth[i] for i in order])


def shuffle_columns(world: World, way: str, rng: np.random.Generator) -> Changed:
    moves = not world.named or len(world.groups) > 1
    return Changed(replace(world, columns=_shuffle_dict(world.columns, rng)), moves=moves)


def shuffle_models(world: World, way: str, rng: np.random.Generator) -> Changed:
    models = _shuffle_dict(world.models, rng)
    return Changed(replace(_put_scores_last(world, models), models=models), moves=True)


def shuffle_class_columns(world: World, way: str, rng: np.random.Generator) -> Changed | None:
    if world.kind != "classes":
        return None
    order = _shuffle_dict(dict.fromkeys(world.classes), rng)
    models = {m: {each: of[each] for each in order} for m, of in world.models.items()}
    return Changed(replace(_put_scores_last(world, models), models=models), moves=True)


def rename_models(world: World, way: str, rng: np.random.Generator) -> Changed:
    names = dict(zip(world.models, ("zeta", "eta", "model 3", "Alpha"), strict=False))
    models, moved = {}, {}
    for name, of in world.models.items():
        models[names[name]] = {
            each: names[name] + column.removeprefix(name) for each, column in of.items()
        }
        moved |= {column: names[name] + column.removeprefix(name) for column in of.values()}
    columns = {moved.get(name, name): values for name, values in world.columns.items()}
    back = {"model": {new: old for old, new in names.items()}}
    return Changed(replace(world, columns=columns, models=models), back)


def rename_classes(world: World, way: str, rng: np.random.Generator) -> Changed | None:
    classes, others = list(world.classes), list(world.other_classes)
    if not world.read and isinstance(classes[0], str) and _has_ties(world):
        # a tie goes to the first class, as numpy's argmax has it: of classes in no known order, to
        # the first by name, so that the other names have to be in the same order
        classes, others = sorted(classes), sorted(others, key=str)
    new = dict(zip(classes, others, strict=True))
    columns, models = dict(world.columns), dict(world.models)
    columns["label"] = [None if y is None else new[y] for y in columns["label"]]
    if world.kind == "answers":
        for name in world.score_columns:
            columns[name] = [None if y is None else new[y] for y in columns[name]]
    if world.kind == "classes":
        models = {m: {new[each]: f"{m}:{new[each]}" for each in of} for m, of in models.items()}
        moved = {f"{m}:{old}": f"{m}:{new[old]}" for m in models for old in world.classes}
        columns = {moved.get(name, name): values for name, values in columns.items()}
    read = dict(world.read)
    if "classes" in read:
        read["classes"] = [new[each] for each in read["classes"]]
    if "positive" in read:
        read["positive"] = new[read["positive"]]
    other = replace(
        world,
        columns=columns,
        models=models,
        read=read,
        classes=tuple(new[each] for each in world.classes),
        truth=[new[y] for y in world.truth],
    )
    return Changed(other, {"class": {str(b): str(a) for a, b in new.items()}}, moves=True)


def _has_ties(world: World) -> bool:
    """Whether two classes of a model have the same largest score on some row."""
    for of in world.models.values() if world.kind == "classes" else ():
        for shares in zip(*(world.columns[column] for column in of.values()), strict=True):
            if None not in shares and sorted(shares)[-2] >= max(shares) - EXACT:
                return True
    return False


def rename_ids(world: World, way: str, rng: np.random.Generator) -> Changed | None:
    if "id" not in world.columns:
        return None
    text = rng.random() < 0.5
    numbers = rng.permutation(world.n_rows)
    ids = [f"item-{i}" if text else int(5 + 3 * i) for i in numbers]
    back = dict(zip(ids, world.columns["id"], strict=True))
    return Changed(replace(world, columns={**world.columns, "id": ids}), {"id": back})


def rename_groups(world: World, way: str, rng: np.random.Generator) -> Changed | None:
    if not world.groups:
        return None
    columns, back = dict(world.columns), {}
    for name in world.groups:
        values = sorted({v for v in columns[name] if v is not None})
        names: dict[Any, Any] = {v: f"g{len(values) - i}" for i, v in enumerate(values)}
        columns[name] = [None if v is None else names[v] for v in columns[name]]
        short = name.removeprefix("group_")
        back |= {f"{short}={new}": f"{short}={old}" for old, new in names.items()}
    return Changed(replace(world, columns=columns), {"group": back}, moves=True)


def change_way(world: World, way: str, rng: np.random.Generator) -> Changed:
    return Changed(world, way=str(rng.choice(_list_other_ways(world, way))))


def lose_digits(world: World, way: str, rng: np.random.Generator) -> Changed | None:
    if world.kind not in ("score", "classes"):
        return None
    ways = [way, *_list_other_ways(world, way)]
    typed = [each for each in ways if each.split()[0] in SINGLE_PRECISION]
    return Changed(replace(world, single=True), way=str(rng.choice(typed)), tolerance=SINGLE)


def split_off_labels(world: World, way: str, rng: np.random.Generator) -> Changed | None:
    if "id" not in world.columns or way.split()[0] in ARRAYS:
        return None
    return Changed(replace(world, label_file=True))


def split_into_files(world: World, way: str, rng: np.random.Generator) -> Changed | None:
    if "id" not in world.columns or len(world.models) < 2:
        return None
    ways = [each for each in [way, *_list_other_ways(world, way)] if each in ("csv;", *TABLES)]
    return Changed(replace(world, joined=True), way=str(rng.choice(ways))) if ways else None


def stream_parts(world: World, way: str, rng: np.random.Generator) -> Changed:
    return Changed(replace(world, engine={"engine": "stream", "parts": int(rng.integers(2, 5))}))


def stream_rows(world: World, way: str, rng: np.random.Generator) -> Changed | None:
    if way.endswith(" long") and not world.named:
        return None  # streams are wide, and only one of the two layouts could be ambiguous
    return Changed(replace(world, engine={"engine": "stream", "parts": 1}), moves=True)


def stream_on_dask(world: World, way: str, rng: np.random.Generator) -> Changed:
    return Changed(replace(world, engine={"engine": "dask", "parts": int(rng.integers(1, 5))}))


Relation = Callable[[World, str, np.random.Generator], Changed | None]
RELATIONS: dict[str, Relation] = {
    "row order": shuffle_rows,
    "column order": shuffle_columns,
    "model order": shuffle_models,
    "class column order": shuffle_class_columns,
    "names of models": rename_models,
    "names of classes": rename_classes,
    "ids": rename_ids,
    "names of groups": rename_groups,
    "format": change_way,
    "single precision": lose_digits,
    "labels in a file": split_off_labels,
    "files by id": split_into_files,
    "parts of a stream": stream_parts,
    "stream or memory": stream_rows,
    "stream or dask": stream_on_dask,
}
STREAMED = ("parts of a stream", "stream or memory", "stream or dask")


def _shuffle_dict(of: dict[Any, Any], rng: np.random.Generator) -> dict[Any, Any]:
    names = list(of)
    return {names[i]: of[names[i]] for i in rng.permutation(len(names))}


def _put_scores_last(world: World, models: dict[str, dict[Hashable, str]]) -> World:
    """The score columns in the order of ``models``, after the others."""
    scores = [column for of in models.values() for column in of.values()]
    others = {name: of for name, of in world.columns.items() if name not in scores}
    return replace(world, columns=others | {name: world.columns[name] for name in scores})


# ways in: files by their suffix, frames by their library, arrays; wide or long


TABLES = tuple(suffix for suffix, reader in READERS.items() if reader.open is not None)
FRAMES = ("pandas", "pandas-object", "pandas-nullable", "polars", "pyarrow", "dataset")
ARRAYS = (*(suffix for suffix, reader in READERS.items() if reader.open is None), "arrays")
SINGLE_PRECISION = ("pandas", "pandas-nullable", "polars", "pyarrow", ".parquet", *ARRAYS)
"""Ways that hold numbers of 32 bits."""


def list_ways(world: World) -> list[str]:
    """All ways to give a world, the suffixes of all readers among them."""
    tables = [*TABLES, "csv;"]
    ways = [*tables, *FRAMES]
    asks_truth = "oracle" in {f.name for f in fields(find_method_class(world.question["method"]))}
    if "id" in world.columns and not asks_truth:
        ways += [f"{way} long" for way in (*tables, *FRAMES) if way != "dataset"]
    ordered = "classes" in world.read or not isinstance(world.classes[0], str)
    if world.named and (world.kind == "score" or (world.kind == "classes" and ordered)):
        ways += ARRAYS
    return ways


def _list_other_ways(world: World, way: str) -> list[str]:
    """Other ways in; of the same layout where the columns are not named and could be ambiguous."""
    others = [each for each in list_ways(world) if each != way]
    return [each for each in others if world.named or ("long" in each) == ("long" in way)]


def give(world: World, way: str, folder: Path) -> tuple[Any, Any, dict[str, Any]]:
    """The source, the labels and the reading options of `ssme.evaluate`."""
    container, _, layout = way.partition(" ")
    if world.engine:
        container, layout = ".parquet", ""
    options = dict(world.read)
    if container in ARRAYS:
        return _give_arrays(world, container, folder, options)
    columns = _make_long(world) if layout else dict(world.columns)
    if world.named:
        options |= _name_columns(world, layout)
    if world.label_file:
        options["labels_file"] = folder / "labels.csv"
        known = [i for i, y in enumerate(world.columns["label"]) if y is not None]
        apart = [name for name in ("id", "label", "label_weight") if name in columns]
        labels = {name: [world.columns[name][i] for i in known] for name in apart}
        write_text(labels, options["labels_file"])
        columns = {name: of for name, of in columns.items() if name not in apart[1:]}
    if container == "csv;":
        options |= {"delimiter": ";", "decimal": ","}
    if world.engine:
        parts = np.array_split(np.arange(world.n_rows), world.engine["parts"])
        for number, rows in enumerate(parts):
            part = {name: [values[i] for i in rows] for name, values in columns.items()}
            table = pa.table({n: pa.array(v, type=_find_type(columns[n])) for n, v in part.items()})
            parquet.write_table(table, folder / f"part-{number}.parquet")
        options["engine"] = world.engine["engine"]
        if options["engine"] == "dask":
            options["scheduler"] = start_dask()
        return folder, None, options
    if world.joined:
        return _split_models(columns, container, folder, world), None, options
    return _pack(columns, container, folder, world), None, options


def _split_models(columns: Columns, container: str, folder: Path, world: World) -> list[Path]:
    """Files with the first model, in the order of the rows, and with the others, in another one.

    Both have the ids; labels are in the first file, all other columns in both.
    """
    first = set(next(iter(world.models.values())).values())
    paths = []
    for name, scores in (("first", first), ("second", set(world.score_columns) - first)):
        kept = [each for each in columns if each in scores or each not in world.score_columns]
        part = {each: columns[each] for each in kept if name == "first" or each != "label"}
        if name == "second":
            part = {each: values[::-1] for each, values in part.items()}
        (folder / name).mkdir()
        paths.append(_pack(part, container, folder / name, world))
    return paths


def _find_type(values: list[Any]) -> Any:
    return pa.array(values).type


def _name_columns(world: World, layout: str) -> dict[str, Any]:
    """Options that name all columns."""
    options: dict[str, Any] = {"label": "label", "layout": "long" if layout else "wide"}
    if "id" in world.columns:
        options["id"] = "id"
    if "weight" in world.columns:
        options["weight"] = "weight"
    if "label_weight" in world.columns:
        options["design"] = "label_weight"
    if "cluster" in world.columns:
        options["cluster"] = "cluster"
    if world.groups:
        options["groups"] = world.groups
    if world.kind in ("answers", "ratings"):
        options[world.kind] = [world.kind.rstrip("s")] if layout else list(world.models)
        if layout:
            options["model"] = "model"
        return options
    return {**options, "models": list(world.models)}


def _make_long(world: World) -> Columns:
    """One row per id, model and class."""
    value = {"answers": "answer", "ratings": "rating"}.get(world.kind, "score")
    out: Columns = {"id": [], "model": [], **({"class": []} if world.kind == "classes" else {})}
    others = [n for n in world.columns if n not in ("id", *world.score_columns)]
    out |= {value: [], **{name: [] for name in others}}
    for row in range(world.n_rows):
        for model, of in world.models.items():
            for each, column in of.items():
                out["id"].append(world.columns["id"][row])
                out["model"].append(model)
                out[value].append(world.columns[column][row])
                if each is not None:
                    out["class"].append(each)
                for name in others:
                    out[name].append(world.columns[name][row])
    return out


def _give_arrays(
    world: World, container: str, folder: Path, options: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    dtype = np.float32 if world.single else np.float64
    by_model = [
        [[np.nan if v is None else v for v in world.columns[column]] for column in of.values()]
        for of in world.models.values()
    ]
    scores = np.array(by_model, dtype=dtype).transpose(2, 0, 1)
    if world.kind == "classes":
        options = {"classes": list(world.classes), **options}
        order = [list(next(iter(world.models.values()))).index(c) for c in options["classes"]]
        scores = scores[:, :, order]
        options.pop("positive", None)
    else:
        scores = scores[:, :, 0]
    groups = {n.removeprefix("group_"): world.columns[n] for n in world.groups}
    # readers of tables take text that differs in every row for ids
    ids = world.columns.get("id", world.columns.get("note"))
    if ids is not None and len({*ids}) < len(ids):
        ids = None
    rest = {"weights": world.columns.get("weight"), "ids": ids}
    rest |= {"groups": groups or None, "design": world.columns.get("label_weight")}
    rest["clusters"] = world.columns.get("cluster")
    options |= {"models": list(world.models), **{k: v for k, v in rest.items() if v is not None}}
    if container == ".npz":
        ScoreSet.from_arrays(scores, world.columns["label"], **options).save(folder / "s.npz")
        return folder / "s.npz", None, {}
    if container == ".npy":
        np.save(folder / "s.npy", scores)
        return folder / "s.npy", world.columns["label"], options
    if container == "arrays":
        return scores, world.columns["label"], options
    raise AssertionError(f"benchmarks/fuzz/metamorphic.py does not know how to write {container}")


def _pack(columns: Columns, container: str, folder: Path, world: World) -> Any:
    """A frame, or the path of a file that is written."""
    scores = {"score", *world.score_columns} if world.kind in ("score", "classes") else set()
    narrow = [name for name in columns if world.single and name in scores]
    if container == "csv;":
        return write_text(columns, folder / "scores.csv", ";", ",")
    if container.startswith("."):
        return write_table(columns, folder / f"scores{container}", narrow)
    return make_frame(columns, container, narrow)


# asking and comparing


@dataclass(frozen=True)
class Answer:
    """What an evaluation says: numbers by model, metric and group, and what follows from them.

    ``n_random`` is the number of labels that all ``effective_labels`` start from.
    """

    numbers: dict[tuple[str, ...], dict[str, float]]
    n_random: float = np.nan
    pick: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    rows: tuple[Any, ...] = ()
    refused: str = ""
    metric: str = ""

    def ties(self, other: str) -> bool:
        """Whether model ``other`` has the same estimate as the pick, so that names decide."""
        mine, its = (self.numbers[m, self.metric, "all"]["estimate"] for m in (*self.pick, other))
        return bool(abs(mine - its) <= EXACT)


NUMBERS = (
    "estimate",
    "low",
    "high",
    "labels_only",
    "labels_only_low",
    "labels_only_high",
    "n_labeled",
    "n_unlabeled",
    "shrinkage",
)


def ask(world: World, way: str, back: Back, seed: int = 0) -> Answer:
    """The answer to the question of ``world``, names changed back.

    ``seed`` is also that of labels alone, which is 0 in an evaluation.
    """
    question = {**world.question, "random_state": seed}
    options = dict(question.pop("options"))
    own = {each.name for each in fields(find_method_class(question["method"]))}
    if "oracle" in own:
        options |= {"oracle": world.truth, "budget": world.n_rows // 2}
    seeded = patch.object(fitting, "LABELS_ONLY_SEED", seed)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), seeded:
        warnings.simplefilter("ignore")
        try:
            source, y, reading = give(world, way, Path(folder))
            result = ssme.evaluate(source, y, options=options, **question, **reading)
            return _read_answer(result, back)
        except InputError as error:
            return Answer({}, refused=str(error))


def _read_answer(result: ssme.Evaluation, back: Back) -> Answer:
    def rename(what: str, name: Any) -> Any:
        return back.get(what, {}).get(name, name)

    numbers: dict[tuple[str, ...], dict[str, float]] = {}
    widths: dict[tuple[str, ...], float] = {}
    n_random: list[float] = []
    for row in result.rows():
        group = rename("group", row["group"].removeprefix("group_"))
        key = (rename("model", row["model"]), row["metric"], group)
        found = {name: np.nan if row[name] is None else float(row[name]) for name in NUMBERS}
        if key[2] == "all":
            widths[key[:2]] = found["labels_only_high"] - found["labels_only_low"]
        numbers[key] = found
        if row["effective_labels"] is not None and np.isfinite(row["effective_labels"]):
            share = (found["high"] - found["low"]) / widths[key[:2]]
            n_random.append(row["effective_labels"] * share**2)
    metric = result.metrics[0]
    pick: tuple[str, ...] = ()
    if (
        metric.greater_is_better is not None
        and np.isfinite(result.estimate(metric.name).value).any()
    ):
        best = result.choose(metric.name)
        pick = (rename("model", best.pick),)
    rows: tuple[Any, ...] = ()
    if result.streamed is None and result.data.n_unlabeled >= 3 and result.data.ids is not None:
        try:
            rows = tuple(rename("id", each) for each in result.suggest(3).ids)
        except InputError:
            rows = ("refused",)
    codes = tuple(sorted({d.code for d in result.warnings}))
    if np.ptp(n_random or [0.0]) > SINGLE * max(n_random, default=1.0):
        raise AssertionError(f"effective labels start from {n_random}")
    n_labels = n_random[0] if n_random else np.nan
    return Answer(numbers, n_labels, pick, codes, rows, metric=metric.name)


def find_difference(
    one: Answer,
    other: Answer,
    seeds: Answer | None,
    tolerance: float = EXACT,
    renamed: bool = False,
) -> str:
    """What differs between two answers; empty where nothing does.

    ``seeds`` is the first one with another seed, where draws may have moved; ``renamed`` says that
    models have other names.
    """
    if bool(one.refused) != bool(other.refused):
        return f"refused only once: {one.refused or other.refused}"
    if set(one.numbers) != set(other.numbers):
        return f"rows: {sorted(set(one.numbers) ^ set(other.numbers), key=str)[:4]}"
    if abs(one.n_random - other.n_random) > SINGLE * one.n_random:
        return f"rows: effective labels start from {one.n_random} and {other.n_random}"
    noisy = set() if seeds is None else find_noisy(one, seeds)
    for key, numbers in one.numbers.items():
        for name, value in numbers.items():
            found = other.numbers[key][name]
            if np.isnan(value) and np.isnan(found):
                continue
            allowed = tolerance * max(1.0, abs(value))
            if name in noisy:
                allowed = _allow_noise(name, numbers, seeds.numbers[key][name])
            if not abs(value - found) <= allowed:
                return f"{name} of {key}: {value!r}, {found!r} (allowed {allowed:.2g})"
    tied = renamed and one.pick != other.pick and one.ties(*other.pick)
    if seeds is None and tolerance == EXACT:
        for what in ("codes",) if tied else ("codes", "rows"):  # rows are suggested for the pick
            if getattr(one, what) != getattr(other, what):
                return f"{what}: {getattr(one, what)}, {getattr(other, what)}"
    if one.pick != other.pick and "estimate" not in noisy and not tied:
        return f"pick: {one.pick}, {other.pick}"
    return ""


def find_different_means(ones: list[Answer], others: list[Answer]) -> str:
    """The first number whose mean over seeds differs by more than its Monte-Carlo error."""
    for key in ones[0].numbers:
        for name in NUMBERS:
            x, y = (np.array([a.numbers[key][name] for a in each]) for each in (ones, others))
            if np.isnan(x).any() or np.isnan(y).any():
                if np.isnan(x).all() != np.isnan(y).all():
                    return f"{name} of {key}: {x}, {y}"
                continue
            error = np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / len(x))
            allowed = ERRORS * error + EXACT * max(1.0, abs(x.mean()))
            if abs(x.mean() - y.mean()) > allowed:
                return f"{name} of {key}: {x.mean()!r}, {y.mean()!r} (standard error {error:.2g})"
    return ""


def find_noisy(one: Answer, seeds: Answer) -> set[str]:
    """The numbers that depend on random draws, as another seed shows."""
    noisy: set[str] = set()
    for key, numbers in one.numbers.items():
        for name, value in numbers.items():
            if not (abs(value - seeds.numbers[key][name]) <= 1e-12 or np.isnan(value)):
                alone = "labels_only_" if name.startswith("labels_only") else ""
                ends = {f"{alone}low", f"{alone}high"}
                noisy |= ends if name in ends else {name}
    return noisy


def _allow_noise(name: str, numbers: dict[str, float], again: float) -> float:
    """Largest difference of a number that depends on draws; ``again`` is it with another seed."""
    alone = "labels_only_" if name.startswith("labels_only") else ""
    width = numbers[f"{alone}high"] - numbers[f"{alone}low"]
    return float(np.nanmax([NOISE * width, 2.0 * abs(again - numbers[name]), EXACT]))


@cache
def can_stream(method: str) -> bool:
    """Whether a fitted method has a posterior for rows that it has not seen."""
    made = find_method_class(method)
    if "oracle" in {each.name for each in fields(made)}:
        return False
    scores = {"a": np.linspace(0.1, 0.9, 20), "b": np.linspace(0.2, 0.7, 20)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = ScoreSet.from_arrays(scores, np.arange(20) // 10)
        return made().fit(data, np.random.default_rng(0)).predictor is not None


@cache
def start_dask() -> str:
    """The address of a Dask scheduler in this process, which ends with it."""
    from distributed import LocalCluster

    cluster = LocalCluster(1, processes=False, threads_per_worker=1, dashboard_address=None)
    atexit.register(cluster.close)
    return str(cluster.scheduler_address)


def run_case(seed: int, case: int, only: str | None = None) -> tuple[dict[str, Any], str, str]:
    """What the case was about, its outcome and, for findings, what happened."""
    rng = np.random.default_rng([seed, case])
    whole = [name for name in RELATIONS if name not in STREAMED]
    relation = only or str(rng.choice(STREAMED if rng.random() < STREAMS else whole))
    while True:
        about, outcome, detail = compare_forms(relation, rng)
        if outcome != "refused" or rng.random() < REFUSED:
            return about, outcome, detail


def compare_forms(relation: str, rng: np.random.Generator) -> tuple[dict[str, Any], str, str]:
    """Draw a table and a question and ask it of two forms that differ by ``relation``."""
    while True:
        world = draw_world(rng)
        way = str(rng.choice(list_ways(world)))
        if relation in STREAMED and not can_stream(world.question["method"]):
            continue
        if relation in ("parts of a stream", "stream or dask"):
            world = replace(world, engine={"engine": "stream", "parts": 1})
        changed = RELATIONS[relation](world, way, rng)
        if changed is not None:
            break
    other_way = changed.way or way
    about = {
        "relation": [relation],
        "method": [world.question["method"]],
        "metric": world.question["metrics"],
        "format": [changed.world.engine.get("engine", f) for f in dict.fromkeys([way, other_way])],
    }
    try:
        one = ask(world, way, {})
        other = ask(changed.world, other_way, changed.back)
        again = None
        if changed.moves and not one.refused and not other.refused:
            again = ask(world, way, {}, seed=1)
        if relation == "stream or memory" and other.refused:
            one = other  # streams refuse more
        renamed = relation == "names of models"
        wrong = find_difference(one, other, again, changed.tolerance, renamed)
        if wrong and again is not None and not wrong.startswith(("refused", "rows", "pick")):
            fixed = relation in ("row order", "parts of a stream", "stream or memory")
            both = (0, world, way, {}), (1, changed.world, other_way, changed.back)
            for seeds in (range(SEEDS), range(SEEDS, 5 * SEEDS)):
                # of some 100,000 means that are compared, a few differ by chance: asked again
                ones, others = (
                    [ask(of if fixed else reorder(of, [s, at]), by, back, seed=s) for s in seeds]
                    for at, of, by, back in both
                )
                wrong = find_different_means(ones, others)
                if not wrong:
                    break
    except Hang:
        return about, "hang", ""
    except Exception as error:
        where = "".join(traceback.format_exception(error)[-3:])
        return about, "uncaught", f"{type(error).__name__}: {error}\n{where}"
    if wrong:
        how = f"{way} -> {other_way}" if other_way != way else way
        return about, "different", f"{how}, {world.kind} {world.read}, {world.question}: {wrong}"
    return about, "refused" if one.refused else "same", one.refused


def attack(
    cases: int, seed: int, first: int = 0, only: str | None = None
) -> tuple[Counter[tuple[str, str, str]], list[str]]:
    """Counts of (kind, name, outcome) of ``cases`` cases from ``first`` on, and the findings."""
    counts: Counter[tuple[str, str, str]] = Counter()
    findings: list[str] = []
    for case in range(first, first + cases):
        with limit_time():
            about, outcome, detail = run_case(seed, case, only)
        for kind, names in about.items():
            for name in names:
                counts[kind, name, outcome] += 1
        if outcome not in ("same", "refused"):
            findings.append(f"case {case}, {about['relation'][0]}, {outcome}: {detail}")
    return counts, findings


def list_rows(counts: Counter[tuple[str, str, str]], seed: int) -> Iterator[dict[str, Any]]:
    """One row per relation, method, metric and format."""
    for kind, name in sorted({(kind, name) for kind, name, _ in counts}):
        found = {outcome: counts[kind, name, outcome] for outcome in OUTCOMES}
        yield {"kind": kind, "name": name, "cases": sum(found.values()), **found, "seed": seed}


def main() -> None:
    parser = make_parser(__doc__, cases=5_000)
    parser.add_argument("--case", type=int, help="run and print this case alone")
    parser.add_argument(
        "--only", choices=list(RELATIONS), help="this relation alone; writes nothing"
    )
    arguments = parser.parse_args()
    if arguments.case is not None:
        print(*run_case(arguments.seed, arguments.case, arguments.only), sep="\n")
        return
    tasks = [
        (size, arguments.seed, first, arguments.only)
        for first, size in split_cases(arguments.cases, 250)
    ]
    counts: Counter[tuple[str, str, str]] = Counter()
    findings: list[str] = []
    for part, told in spread(attack, tasks, arguments.workers):
        counts.update(part)
        findings += told
    rows = list(list_rows(counts, arguments.seed))
    if arguments.only is None:
        write_counts(rows, "fuzz_metamorphic")
    print("\n".join(findings))
    print(f"{arguments.cases} cases, {len(findings)} that should not be")


if __name__ == "__main__":
    main()
