"""Labels as people write them, and the classes they name.

    values --observe--> RawLabels --resolve_classes--> classes --encode--> class indices (n,)

Missing is NaN, None, NA or empty text; a code such as -1 only when it is declared.

Neither rows nor columns nor the alphabet say which of two classes is positive, or which order
grades have: a list does, numbers do, and so do well-known pairs such as no and yes. Otherwise
classes are sorted, so that a table gives the same set however it was shuffled, and metrics that
depend on their order are refused (`ScoreSet.ordered`).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ssme.arrays import IntArray
from ssme.data import values as cells
from ssme.errors import InputError
from ssme.wording import quote, suggest_nearest

ClassOrder = Literal["listed", "known", "unknown"]
"""Whether the caller listed the classes in order, their names imply it, or nothing does."""

PAIRS = (
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("negative", "positive"),
    ("neg", "pos"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("fail", "pass"),
    ("bad", "good"),
    ("lose", "win"),
    ("loss", "win"),
)
"""Two classes as text, in any capitals, whose positive one is clear."""

SYSTEMS = (("first", "second"), ("a", "b"), ("model_a", "model_b"), ("left", "right"))
"""Two systems that judges compare; wins are those of the second."""

TIES = ("tie", "tied", "draw", "equal", "both", "same")
"""Texts that, with one of these pairs, mean that neither of two is better."""

INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
"""A whole number as Python writes it; text such as 01 is a name."""

NO_LABEL = ("na", "n/a", "nan", "none", "null", "<na>", "?", "-", "missing", "unknown", "unlabeled")
"""Words that often mean "no label"; they do so only where they are declared."""

DIGITS, DECIMAL = re.compile(r"[+-]?\d+"), re.compile(r"[+-]?\d+(\.\d+)?")

MANY_CLASSES = "; one model with K classes has scores of shape (n, 1, K), or K columns"


def spell_class(value: Hashable) -> str:
    """How a class reads: "1" for 1, 1.0, "1" and "1.0", "true" for True and "True"."""
    text = str(cells.make_plain(value)).strip()
    whole, point, decimals = text.partition(".")
    if point and not decimals.strip("0") and whole.lstrip("+-").isdigit():
        return whole
    return text.lower() if text.lower() in ("true", "false") else text


def order_classes(
    names: Sequence[Hashable],
    classes: Sequence[Hashable] | None = None,
    positive: Hashable | None = None,
    *,
    compared: bool = False,
) -> tuple[Hashable, ...]:
    """``names`` in the order that is listed or known, else sorted; ``positive`` of two comes last.

    ``compared``: the names are answers of judges, which may name two systems.
    """
    by_text: dict[str, Hashable] = {}
    for name in sort_names(names):
        first = by_text.setdefault(spell_class(name), name)
        if first is not name:
            problem = f"the classes {first!r} and {name!r} differ only in spelling"
            raise InputError(problem, hint="write each class in one way")
    if classes is not None:
        wanted = [spell_class(name) for name in classes]
        if sorted(wanted) != sorted(by_text):
            found = quote(list(by_text.values()))
            problem = f"`classes` lists {quote(classes)}, and the classes in the data are {found}"
            raise InputError(problem, hint="list the classes as the data names them, each once")
        return tuple(by_text[text] for text in wanted)
    known = _find_known_order(list(by_text), compared) or list(by_text)
    ordered = [by_text[text] for text in known]
    if positive is not None and len(ordered) == 2:
        ordered.sort(key=lambda name: spell_class(name) == spell_class(positive))
    return tuple(ordered)


def name_order(classes: Sequence[Hashable], *, listed: bool, compared: bool = False) -> ClassOrder:
    """What implies the order of ``classes``, which is the one they are given in."""
    if listed:
        return "listed"
    texts = [spell_class(name) for name in classes]
    return "known" if _find_known_order(texts, compared) == texts else "unknown"


def sort_names(names: Iterable[Hashable]) -> list[Hashable]:
    """``names`` sorted as text, so that their order does not depend on that of the rows."""
    return sorted(names, key=lambda name: (str(name).casefold(), str(name), type(name).__name__))


def _find_known_order(texts: Sequence[str], compared: bool) -> list[str] | None:
    """``texts`` as numbers, as a pair, or as a pair with a tie between; None for others."""
    if all(map(DECIMAL.fullmatch, texts)):
        return sorted(texts, key=float)
    ties = [text for text in texts if text.lower().split(" (")[0] in TIES]
    if len(texts) == 3 and len(ties) == 1:
        pair = _find_known_order([text for text in texts if text != ties[0]], compared)
        return None if pair is None else [pair[0], ties[0], pair[1]]
    by_lower = {text.lower(): text for text in texts}
    for pair in (*PAIRS, *(SYSTEMS if compared else ())):
        if len(texts) == 2 and set(pair) == set(by_lower):
            return [by_lower[text] for text in pair]
    return None


def convert_as_labels(
    names: Sequence[Hashable], labels: Sequence[Hashable]
) -> tuple[Hashable, ...]:
    """Names found as text, as integers or booleans if they look so and no label is text."""
    texts = [spell_class(name) for name in names]
    if any(isinstance(value, str) for value in labels):
        return tuple(str(name) for name in names)
    if all(map(DIGITS.fullmatch, texts)):
        return tuple(int(text) for text in texts)
    if set(texts) == {"true", "false"}:
        return tuple(text == "true" for text in texts)
    return tuple(names)


@dataclass(frozen=True, eq=False)
class RawLabels:
    """Labels as found: ``codes`` (n,) into the distinct ``values``, -1 where missing."""

    codes: IntArray
    values: tuple[Hashable, ...]

    def are_all(self, kind: type) -> bool:
        """Whether there are values, all of this very type."""
        return bool(self.values) and all(type(value) is kind for value in self.values)

    @property
    def texts(self) -> set[str]:
        """The distinct values as classes are spelled."""
        return {spell_class(value) for value in self.values}

    def find_first_row(self, value: Hashable) -> int:
        return int(np.argmax(self.codes == self.values.index(value)))

    def spread(self) -> np.typing.NDArray[np.object_]:
        """The value (n,) of each row, None where missing."""
        return cells.to_objects([*self.values, None])[self.codes]

    def recode(self, places: Sequence[int]) -> IntArray:
        """Codes (n,) with ``places`` of the values in another list, -1 where missing."""
        return np.array([*places, -1], dtype=np.int64)[self.codes]


def observe(
    labels: object | None, n: int, unlabeled: tuple[Hashable, ...] | None = None
) -> RawLabels:
    """The distinct labels and their rows, ``unlabeled`` codes as missing; `RawLabels` stay."""
    if isinstance(labels, RawLabels):
        return labels
    if labels is None or labels is False:
        return RawLabels(np.full(n, -1, dtype=np.int64), ())
    if isinstance(labels, np.ma.MaskedArray):
        array: np.typing.NDArray[Any] = labels.data.astype(object)
        array[np.ma.getmaskarray(labels)] = None
    else:
        array = cells.as_array(labels, "labels")
    if array.dtype.kind == "S":
        try:
            array = np.char.decode(array, "utf-8")
        except UnicodeDecodeError as error:
            problem = f"labels contain bytes that are not UTF-8: {error.object[:20]!r}"
            raise InputError(problem, hint="convert them to text first") from None
    elif array.dtype.kind == "U" and array.ndim == 1 and isinstance(labels, list | tuple):
        if not all(isinstance(label, str) for label in labels):
            array = cells.to_objects(labels)  # numpy made text of numbers
    elif array.dtype.kind not in "fiubUO":
        array = array.astype(object)
    shape = array.shape
    if shape != (n,):
        hint = "check that both come from the same rows in the same order, or join labels by id"
        if len(shape) == 1 and shape[0] > n:
            hint += "; if each model has its own array, give a dict {model: array}"
        elif shape == (n, 1):
            hint = "give them as one column: labels.ravel()"
        elif len(shape) == 2 and shape[0] == n:
            hint = "if the columns are one-hot classes, give labels.argmax(axis=1)"
        what = f"{shape[0]} labels" if len(shape) == 1 else f"labels of shape {shape}"
        raise InputError(f"{what} for {n} rows of scores", hint=hint)
    missing = cells.is_missing(array)
    codes = np.full(n, -1, dtype=np.int64)
    codes[~missing], distinct = _factorize(array[~missing])
    raw, declared = RawLabels(codes, tuple(map(cells.make_plain, distinct))), unlabeled or ()
    # declared codes are dropped, and values that became equal (1 and 1.0) are one
    marks = [(isinstance(value, bool), value) for value in raw.values]
    dropped = {(isinstance(c, bool), c) for c in (*declared, *_spell_as_labels(declared, raw))}
    texts = {str(value): value for mark, value in marks if (mark, value) not in dropped}
    for is_flag, code in dropped:
        label = texts.get(code) if isinstance(code, str) else None  # "0" where labels are 0
        if (not is_flag, code) in marks and (is_flag, code) not in marks:
            label = next(value for mark, value in marks if mark != is_flag and value == code)
        if label is not None:
            problem = f"`unlabeled={code!r}` was given, and labels are {label!r}, of another type"
            hint = f"pass `unlabeled={label!r}` if {label!r} means no label"
            raise InputError(problem, hint=hint)
    kept = [mark for mark in dict.fromkeys(marks) if mark not in dropped]
    place = {mark: index for index, mark in enumerate(kept)}
    recoded = raw.recode([place.get(mark, -1) for mark in marks])
    return RawLabels(recoded, tuple(value for _, value in kept))


def _factorize(values: np.typing.NDArray[Any]) -> tuple[IntArray, list[Any]]:
    """Codes into the distinct values, which are sorted: the order of rows means nothing."""
    if values.dtype.kind in "fiub":
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64), distinct.tolist()
    flags = [isinstance(value, bool | np.bool_) for value in values]
    if any(flags) and not all(flags):  # pandas would take False for the number 0
        codes, pairs = cells.factorize(cells.to_objects(list(zip(flags, values, strict=True))))
        found = [value for _, value in pairs]
    else:
        codes, found = cells.factorize(values)
    order = sorted(range(len(found)), key=lambda i: (type(found[i]).__name__, str(found[i])))
    return np.argsort(order).astype(np.int64)[codes], [found[i] for i in order]


def _spell_as_labels(names: Sequence[Hashable], raw: RawLabels) -> Sequence[Hashable]:
    """Whole numbers as the labels write them: 1 as "1" where labels are "0" and "1"."""
    if not raw.are_all(str) or not all(type(name) is int for name in names):
        return names
    spelled = [str(name) for name in names]
    return spelled if set(spelled) & set(raw.values) else names


def resolve_classes(
    raw: RawLabels,
    n_classes: int,
    *,
    classes: Sequence[Hashable] | None = None,
    positive: Hashable | None = None,
    unlabeled: tuple[Hashable, ...] | None = None,
    one_column: bool = False,
) -> tuple[Hashable, ...]:
    """Class names in the order of the class axis; the positive class of two comes last.

    ``one_column``: each model gave P(positive) only, so the order is not in the data. Numbers in
    ``classes`` and ``positive`` mean the texts that spell them where all labels are text.
    """
    if positive is not None:
        positive = _spell_as_labels([positive], raw)[0]
        if n_classes != 2:
            problem = f"`positive={positive!r}` was given with {n_classes} classes"
            raise InputError(problem, hint="leave `positive` out")
    if classes is not None:
        names = tuple(_spell_as_labels(classes, raw))
        cells.refuse_duplicates(names, "class")
        many = MANY_CLASSES if one_column else ""
        if len(names) != n_classes:
            problem = f"`classes` lists {quote(names)}, but the scores are for {n_classes} classes"
            hint = f"give one name per class, in the order of the class axis{many}"
            raise InputError(problem, hint=hint)
        for code in (each for each in unlabeled or () if each in names):
            problem = f"`unlabeled={code!r}` is also one of the classes {quote(names)}"
            raise InputError(problem, hint="choose another value, or mark unlabeled rows with NaN")
        if positive is not None and positive not in names:
            problem = f"`positive={positive!r}` is not one of the classes {quote(names)}"
            raise InputError(problem, hint=suggest_nearest(positive, names) or "name one of them")
        if positive is not None and one_column:
            return tuple(sorted(names, key=lambda name: name == positive))
    elif positive is not None and one_column:
        return _order_around_positive(raw, positive)
    else:
        names = _order_labels(raw, n_classes, one_column)
    if positive is not None and positive != names[-1]:
        problem = f"`positive={positive!r}` is not the last class of the class axis {quote(names)}"
        hint = "reverse the class axis of the scores, and `classes` with it"
        raise InputError(problem, hint=hint)
    return names


def _order_around_positive(raw: RawLabels, positive: Hashable) -> tuple[Hashable, ...]:
    """The other label and ``positive``, as the labels write it."""
    others = [value for value in raw.values if value != positive]
    positive = next((value for value in raw.values if value == positive), positive)
    if len(others) == 1:
        return (others[0], positive)
    if not others and type(positive) is bool:
        return (not positive, positive)
    if not others and positive == 1:
        return (0, 1)
    hint = "give both in order, the positive one last: `classes=['ham', 'spam']`"
    similar = next((value for value in raw.values if str(value) == str(positive)), None)
    if similar is not None and similar != positive:
        hint = (
            f"labels are {type(similar).__name__}, not {type(positive).__name__}: "
            f"pass `positive={similar!r}`"
        )
    known = quote(raw.values) + (" only" if len(raw.values) == 1 else "")
    what = (
        "needs two classes, and the labels are"
        if positive in raw.values
        else "is not one of the labels"
    )
    raise InputError(
        f"`positive={positive!r}` {what} {known}",
        hint=_find_likely_mistake(raw.values) or hint,
    )


def _find_likely_mistake(values: Sequence[Hashable]) -> str:
    """What to do about labels that differ in spaces or capitals, or that mean "no label"."""
    seen: dict[str, Hashable] = {}
    for value in values:
        plain = str(value).strip().casefold()
        if isinstance(value, str) and plain in seen:
            return f"write {seen[plain]!r} and {value!r} in one way if they are one class"
        seen[plain] = value
    for value in values:
        if isinstance(value, str) and value.strip().casefold() in NO_LABEL:
            return f"declare `unlabeled={value!r}` if it means no label"
    return ""


def _order_labels(raw: RawLabels, n_classes: int, one_column: bool) -> tuple[Hashable, ...]:
    """Classes whose order the labels imply: numbers, booleans or a well-known pair."""
    if not raw.values:
        return tuple(range(n_classes))
    if n_classes == 2 and raw.are_all(bool):
        return (False, True)
    if raw.are_all(int):
        return _order_numbers(raw, n_classes, one_column)
    if all(isinstance(value, str) and INTEGER.fullmatch(value) for value in raw.values):
        numbers = RawLabels(raw.codes, tuple(int(str(value)) for value in raw.values))
        return tuple(map(str, _order_numbers(numbers, n_classes, one_column)))
    if one_column and len(raw.values) == 2:
        names = order_classes(raw.values)
        known = name_order(names, listed=False) == "known"
        if known and not DIGITS.fullmatch(spell_class(names[0])):
            return names
    if one_column and len(raw.values) == 1 and (pair := _complete_pair(raw.values[0])) is not None:
        return pair
    raise _explain_unordered(raw, n_classes, one_column)


def _complete_pair(name: Hashable) -> tuple[Hashable, ...] | None:
    """The well-known pair of classes of which the labels so far have one, in its capitals."""
    pairs = [pair for pair in PAIRS if isinstance(name, str) and name.lower() in pair]
    for spell in (str.lower, str.capitalize, str.upper):
        if len(pairs) == 1 and spell(str(name)) == name:
            return tuple(map(spell, pairs[0]))
    return None


def _order_numbers(raw: RawLabels, n_classes: int, one_column: bool) -> tuple[Hashable, ...]:
    """0..K-1 if all labels are among them, else K distinct integers in ascending order."""
    values: list[Any] = sorted(raw.values)
    if values[0] == -1:
        problem = f"label -1 at row {raw.find_first_row(-1)} may mean a class or no label"
        hint = "pass `unlabeled=-1` if it means no label, or list -1 in `classes`"
        raise InputError(problem, hint=hint)
    if set(values) <= set(range(n_classes)):
        return tuple(range(n_classes))
    if len(values) == n_classes:
        return tuple(values)
    outside = next(value for value in values if value not in range(n_classes))
    raise InputError(
        f"label {outside!r} at row {raw.find_first_row(outside)} does not fit scores for "
        f"{n_classes} classes (labels: {quote(values)})",
        hint="list `classes=[...]` in the order of the scores, or declare "
        f"`unlabeled={outside!r}` if it means no label" + (MANY_CLASSES if one_column else ""),
    )


def _explain_unordered(raw: RawLabels, n_classes: int, one_column: bool) -> InputError:
    values, many = raw.values, MANY_CLASSES if one_column else ""
    kinds = sorted({type(value).__name__ for value in values})
    if "float" in kinds:
        share = next(value for value in values if isinstance(value, float))
        where = f"the label at row {raw.find_first_row(share)} is {share!r}"
        problem = f"{where}; labels are classes, not probabilities"
        hint = "check that `label` names the label column"
    elif len(kinds) > 1:
        problem = f"labels are of mixed types ({', '.join(kinds)}): {quote(values)}"
        hint = "convert them, or list `classes=[...]`"
    elif len(values) > n_classes:
        problem = f"there are {len(values):,} different labels ({quote(values)}), but scores for "
        problem += f"{n_classes} classes"
        usual = "check that `label` names the right column, and `unlabeled` the value of no label"
        hint = _find_likely_mistake(values) or f"{usual}{many}"
    else:
        problem = f"the order of the {n_classes} classes of the scores is unknown; the labels are "
        problem += quote(values)
        few = len(values) == n_classes <= 5
        names = sorted(map(str, values)) if few else ["ham", "spam"]
        hint = "list them in the order of the scores (scikit-learn's classes_ are sorted; of two, "
        hint += f"the positive one last): `classes={names!r}`"
        hint += ", or name the positive one with `positive`" if one_column else ""
        if one_column and len(values) == 2:
            one, other = values
            problem = f"it is unknown which of the labels {quote(values)} is the positive class"
            hint = f"name the class whose probability the scores are: `positive={one!r}` or "
            hint += f"`positive={other!r}`"
    return InputError(problem, hint=hint)


def encode(raw: RawLabels, classes: Sequence[Hashable]) -> IntArray:
    """Class index per row, -1 where unlabeled."""
    place = {name: index for index, name in enumerate(classes)}
    for index, name in enumerate(classes):  # 1 is the class "1", as CSV files write it
        if isinstance(name, str) and INTEGER.fullmatch(name):
            place.setdefault(int(name), index)
    unknown = [value for value in raw.values if value not in place]
    if unknown:
        value = unknown[0]
        others = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        other_type = any(str(value) == str(name) for name in classes)
        hint = (
            f"{suggest_nearest(value, classes)}correct it, declare `unlabeled={value!r}` if it "
            "means no label, or list it in `classes`"
        )
        if other_type:
            hint += f"; the label is {type(value).__name__}, the class is not"
        elif 1 < len(unknown) == len(raw.values):
            hint = (
                f"write the labels as {quote(classes)}, rename the columns of scores to the "
                "labels, or list the labels in `classes`"
            )
        raise InputError(
            f"label {value!r} at row {raw.find_first_row(value)} is not one of the classes "
            f"{quote(classes)}{others}",
            hint=hint,
        )
    return raw.recode([place[value] for value in raw.values])
