"""Labels: from the values people write to class indices, never by a silent guess.

Missing is NaN, None, NA or empty text; a code such as -1 only when declared. Where each model gave
one score per row, the order of the classes comes from an explicit list or, for integers and
booleans, is ascending.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ssme.data.values import (
    as_array,
    factorize,
    is_missing,
    make_plain,
    refuse_duplicates,
    to_objects,
)
from ssme.errors import InputError, argument
from ssme.wording import quote, suggest_nearest

ClassOrder = Literal["listed", "known", "unknown"]
"""Whether the caller said the order of classes, it goes without saying, or nothing says it."""

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
"""Two classes as text, in any capitals, whose positive one nobody doubts."""

COMPARED = (("first", "second"), ("a", "b"), ("model_a", "model_b"), ("left", "right"))
"""Two systems that judges compare; wins are those of the second."""

TIES = ("tie", "tied", "draw", "equal", "both", "same")
"""Texts that, with one of these pairs, mean that neither of two is better."""


def spell_class(value: Hashable) -> str:
    """How a class reads: "1" for 1, 1.0, "1" and "1.0", "true" for True and "True"."""
    text = str(make_plain(value)).strip()
    whole, point, decimals = text.partition(".")
    if point and not decimals.strip("0") and whole.lstrip("+-").isdigit():
        return whole
    return text.lower() if text.lower() in ("true", "false") else text


def is_number(text: str, decimals: str = "") -> bool:
    """Whether ``text`` is a whole number, or one with ``decimals``, a pattern."""
    return re.fullmatch(rf"[+-]?\d+{decimals}", text) is not None


def order_classes(
    names: Sequence[Hashable],
    classes: Sequence[Hashable] | None = None,
    positive: Hashable | None = None,
    *,
    compared: bool = False,
) -> tuple[Hashable, ...]:
    """``names`` in the order that is listed or known, else sorted; ``positive`` of two comes last.

    ``compared``: judges say the names, which may be those of two systems.
    """
    by_text: dict[str, Hashable] = {}
    for name in sort_names(names):
        first = by_text.setdefault(spell_class(name), name)
        if first is not name:
            raise InputError(
                f"the classes {first!r} and {name!r} differ in spelling only",
                allowed="each class written in one way",
                fix="write them alike",
            )
    if classes is not None:
        wanted = [spell_class(name) for name in classes]
        if sorted(wanted) != sorted(by_text):
            raise InputError(
                f"classes {quote(classes)} and the classes in the data "
                f"{quote(list(by_text.values()))} differ",
                allowed="the same classes in both",
                fix="list the classes as the data names them, each once",
            )
        return tuple(by_text[text] for text in wanted)
    known = _find_known_order(list(by_text), compared) or list(by_text)
    ordered = [by_text[text] for text in known]
    if positive is not None and len(ordered) == 2:
        ordered.sort(key=lambda name: spell_class(name) == spell_class(positive))
    return tuple(ordered)


def name_order(classes: Sequence[Hashable], *, listed: bool, compared: bool = False) -> ClassOrder:
    """What says the order of ``classes``, which is the one they are given in."""
    texts = [spell_class(name) for name in classes]
    if listed:
        return "listed"
    return "known" if _find_known_order(texts, compared) == texts else "unknown"


def sort_names(names: Iterable[Hashable]) -> list[Hashable]:
    """``names`` sorted as text, so that their order says nothing about where they were found."""
    return sorted(names, key=lambda name: (str(name).casefold(), str(name), type(name).__name__))


def _find_known_order(texts: Sequence[str], compared: bool) -> list[str] | None:
    """``texts`` as numbers, as a pair, or as a pair with a tie between; None for others."""
    if all(is_number(text, r"(\.\d+)?") for text in texts):
        return sorted(texts, key=float)
    ties = [text for text in texts if text.lower().split(" (")[0] in TIES]
    if len(texts) == 3 and len(ties) == 1:
        pair = _find_known_order([text for text in texts if text != ties[0]], compared)
        return None if pair is None else [pair[0], ties[0], pair[1]]
    by_lower = {text.lower(): text for text in texts}
    for pair in (*PAIRS, *(COMPARED if compared else ())):
        if len(texts) == 2 and set(pair) == set(by_lower):
            return [by_lower[text] for text in pair]
    return None


def refuse_unknown_positive(classes: Sequence[Hashable], why: str) -> None:
    """Refuse two classes of which nothing says the positive one; ``why`` one has to be."""
    raise InputError(
        f"nothing says which of the classes {quote(classes)} is positive, and {why}",
        allowed="two classes as text with the positive one named",
        fix=f"say {argument('positive', repr(classes[-1]))} or "
        f"{argument('positive', repr(classes[0]))}",
    )


def convert_as_labels(
    names: Sequence[Hashable], labels: Sequence[Hashable]
) -> tuple[Hashable, ...]:
    """Names found as text, as integers or booleans if they look so and no label is text."""
    texts = [spell_class(name) for name in names]
    if any(isinstance(value, str) for value in labels):
        return tuple(str(name) for name in names)
    if all(map(is_number, texts)):
        return tuple(int(text) for text in texts)
    if set(texts) == {"true", "false"}:
        return tuple(text == "true" for text in texts)
    return tuple(names)


NAMES = "['ham', 'spam']"
"""Names of classes, for an example."""
FEW = 5
"""Classes that are named in an example by their own names."""
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
"""A whole number as Python writes it; text such as 01 is a name."""
NO_LABEL = ("na", "n/a", "nan", "none", "null", "<na>", "?", "-", "missing", "unknown", "unlabeled")
"""Words that often stand for no label; they mean it where they are declared."""
MANY_CLASSES = "; one model with K classes has scores of shape (n, 1, K), or K columns"
"""What to give where each model gave one score per row and there are more than two classes."""


@dataclass(frozen=True, eq=False)
class RawLabels:
    """Labels as found: ``codes`` (n,) into the distinct ``values``, -1 where missing."""

    codes: NDArray[np.int64]
    values: tuple[Hashable, ...]

    @property
    def integral(self) -> bool:
        return bool(self.values) and all(type(value) is int for value in self.values)

    @property
    def boolean(self) -> bool:
        return bool(self.values) and all(type(value) is bool for value in self.values)

    def find_first_row(self, value: Hashable) -> int:
        return int(np.argmax(self.codes == self.values.index(value)))


def observe(
    labels: object | None, n: int, unlabeled: tuple[Hashable, ...] | None = None
) -> RawLabels:
    """The distinct label values and where they stand; ``unlabeled`` codes count as missing.

    Labels that were observed before are given back as they are.
    """
    if isinstance(labels, RawLabels):
        return labels
    if labels is None or labels is False:
        return RawLabels(np.full(n, -1, dtype=np.int64), ())
    array = _as_column(labels)
    if array.shape != (n,):
        raise _tell_other_shape(array.shape, n)
    missing = is_missing(array)
    codes = np.full(n, -1, dtype=np.int64)
    codes[~missing], distinct = _factorize(array[~missing])
    return _drop_codes(RawLabels(codes, tuple(map(make_plain, distinct))), unlabeled or ())


def _tell_other_shape(shape: tuple[int, ...], n: int) -> InputError:
    fix = (
        "check that both come from the same rows in the same order; labels kept in another table "
        "are joined by id"
    )
    if len(shape) == 1 and shape[0] > n:
        fix += "; where each model has an array of its own, give a dict {model: array}"
    elif len(shape) == 2 and shape == (n, 1):
        fix = "give them as one column: labels.ravel()"
    elif len(shape) == 2 and shape[0] == n:
        fix = "where the columns are the classes and hold 0 and 1, give labels.argmax(axis=1)"
    return InputError(
        (f"{shape[0]} labels" if len(shape) == 1 else f"labels of shape {shape}")
        + f" for {n} rows of scores",
        allowed=f"one label per row ({n}), NaN or None where unknown",
        fix=fix,
    )


def _as_column(labels: object) -> NDArray[Any]:
    if isinstance(labels, np.ma.MaskedArray):
        values: NDArray[Any] = labels.data.astype(object)
        values[np.ma.getmaskarray(labels)] = None
        return values
    array = as_array(labels, "labels")
    if array.dtype.kind == "S":
        return _decode(array)
    mixed = array.dtype.kind == "U" and array.ndim == 1 and isinstance(labels, list | tuple)
    if mixed and not all(isinstance(label, str) for label in labels):  # type: ignore[attr-defined]
        return to_objects(labels)  # type: ignore[arg-type]
    return array.astype(object) if array.dtype.kind not in "fiubUO" else array


def _decode(array: NDArray[Any]) -> NDArray[Any]:
    """Text held as bytes."""
    try:
        return np.char.decode(array, "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"labels hold bytes that are not UTF-8: {error.object[:20]!r}",
            allowed="integers, booleans or text naming a class",
            fix="convert them to text first",
        ) from None


def _factorize(values: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Codes into distinct values, sorted: the order of rows says nothing."""
    if values.dtype.kind in "fiub":
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64), distinct.tolist()
    flags = [isinstance(value, bool | np.bool_) for value in values]
    if any(flags) and not all(flags):  # False is not the number 0
        codes, pairs = factorize(to_objects(list(zip(flags, values, strict=True))))
        found = [value for _, value in pairs]
    else:
        codes, found = factorize(values)
    order = sorted(range(len(found)), key=lambda i: (type(found[i]).__name__, str(found[i])))
    return np.argsort(order).astype(np.int64)[codes], [found[i] for i in order]


def _drop_codes(raw: RawLabels, declared: tuple[Hashable, ...]) -> RawLabels:
    """Drop declared codes and merge values that became equal (1 and 1.0)."""
    marks = [(isinstance(value, bool), value) for value in raw.values]
    codes = {(isinstance(c, bool), c) for c in (*declared, *_spell_as_labels(declared, raw))}
    _refuse_other_kind(codes, marks)
    kept = [mark for mark in dict.fromkeys(marks) if mark not in codes]
    place = {mark: index for index, mark in enumerate(kept)}
    table = np.array([place.get(mark, -1) for mark in marks] + [-1], dtype=np.int64)
    return RawLabels(table[raw.codes], tuple(value for _, value in kept))


def _refuse_other_kind(
    codes: set[tuple[bool, Hashable]], marks: Sequence[tuple[bool, Hashable]]
) -> None:
    """Refuse the code 0 where labels are False, and False where they are 0; likewise with 1."""
    for is_flag, code in codes:
        other = (not is_flag, code)
        if other in marks and (is_flag, code) not in marks:
            label = bool(code) if not is_flag else int(code)  # type: ignore[call-overload]
            raise InputError(
                f"{argument('unlabeled', repr(code))} was given, and labels are {label!r}, "
                f"{'a number' if is_flag else 'a boolean'}",
                allowed="codes of the type that the labels have",
                fix=f"say {argument('unlabeled', repr(label))} if {label!r} means no label, else "
                f"leave {argument('unlabeled')} out",
            )


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
    ``classes`` and ``positive`` stand for the texts that spell them where all labels are text.
    """
    if classes is not None:
        classes = _spell_as_labels(classes, raw)
    if positive is not None:
        positive = _spell_as_labels([positive], raw)[0]
    if positive is not None and n_classes != 2:
        raise InputError(
            f"{argument('positive', repr(positive))} was given with {n_classes} classes",
            allowed=f"{argument('positive')} for two classes only",
            fix=f"leave {argument('positive')} out",
        )
    if classes is not None:
        return _read_explicit(classes, n_classes, positive, unlabeled, one_column)
    if positive is not None and one_column:
        return _order_around_positive(raw, make_plain(positive))
    names = _from_labels(raw, n_classes, one_column)
    if positive is not None:
        _refuse_other_order(names, make_plain(positive))
    return names


def _spell_as_labels(names: Sequence[Hashable], raw: RawLabels) -> Sequence[Hashable]:
    """Whole numbers as the labels write them: 1 as "1" where labels are "0" and "1"."""
    if not raw.values or not all(isinstance(value, str) for value in raw.values):
        return names
    if not all(type(name) is int for name in names):
        return names
    spelled = [str(name) for name in names]
    return spelled if set(spelled) & set(raw.values) else names


def _from_labels(raw: RawLabels, n_classes: int, one_column: bool) -> tuple[Hashable, ...]:
    if not raw.values:
        return tuple(range(n_classes))
    if raw.boolean and n_classes == 2:
        return (False, True)
    if raw.integral:
        return _order_ascending(raw, n_classes, one_column)
    if all(isinstance(value, str) and INTEGER.fullmatch(value) for value in raw.values):
        numbers = RawLabels(raw.codes, tuple(int(str(value)) for value in raw.values))
        return tuple(map(str, _order_ascending(numbers, n_classes, one_column)))
    if one_column and len(raw.values) == 2:
        names = order_classes(raw.values)
        known = name_order(names, listed=False) == "known"
        if known and not is_number(spell_class(names[0])):
            return names
    raise _explain_unordered(raw, n_classes, one_column)


def _read_explicit(
    classes: Sequence[Hashable],
    n_classes: int,
    positive: Hashable | None,
    unlabeled: tuple[Hashable, ...] | None,
    one_column: bool,
) -> tuple[Hashable, ...]:
    names = tuple(classes)
    refuse_duplicates(names, "class", "unique classes")
    if len(names) != n_classes:
        hint = MANY_CLASSES if one_column else ""
        raise InputError(
            f"{argument('classes')}: {len(names)} class names ({quote(names)}) were given for "
            f"scores over {n_classes} classes",
            allowed=f"{n_classes} class names in the order of the class axis",
            fix=f"give one name per class{hint}",
        )
    for code in unlabeled or ():
        if code in names:
            raise InputError(
                f"{argument('unlabeled', repr(code))} is also one of the classes {quote(names)}",
                allowed="a code that is not a class",
                fix="declare another code, or mark unlabeled rows with NaN",
            )
    if positive is None:
        return names
    if make_plain(positive) not in names:
        raise InputError(
            f"{argument('positive', repr(positive))} is not one of the classes {quote(names)}",
            allowed="one of the two classes",
            fix=f"{suggest_nearest(positive, names)}name one of them",
        )
    if one_column:
        return tuple(sorted(names, key=lambda name: name == make_plain(positive)))
    _refuse_other_order(names, make_plain(positive))
    return names


def _refuse_other_order(names: tuple[Hashable, ...], positive: Hashable) -> None:
    if positive != names[-1]:
        raise InputError(
            f"{argument('positive', repr(positive))} is not the last class of the class axis "
            f"{quote(names)}",
            allowed="the positive class last",
            fix=f"reverse the class axis of the scores, and {argument('classes')} with it",
        )


def _order_around_positive(raw: RawLabels, positive: Hashable) -> tuple[Hashable, ...]:
    others = [value for value in raw.values if value != positive]
    positive = next((value for value in raw.values if value == positive), positive)
    if len(others) == 1:
        return (others[0], positive)
    if not others and type(positive) is bool:
        return (not positive, positive)
    if not others and positive == 1:
        return (0, 1)
    fix = f"give both in order, the positive one last: {argument('classes', NAMES)}"
    alike = next((value for value in raw.values if str(value) == str(positive)), None)
    if alike is not None and alike != positive:
        fix = (
            f"labels are {type(alike).__name__}, not {type(positive).__name__}: "
            f"{argument('positive', repr(alike))}"
        )
    raise InputError(
        f"{argument('positive', repr(positive))} and labels {quote(raw.values)} do not tell the "
        "two classes",
        allowed="labels with exactly one other class",
        fix=_hint_at_spelling(raw.values) or _hint_at_missing(raw.values) or fix,
    )


def _hint_at_spelling(values: Sequence[Hashable]) -> str:
    """What to do about two labels that differ in spaces or capitals only."""
    seen: dict[str, Hashable] = {}
    for value in values:
        plain = str(value).strip().casefold()
        if isinstance(value, str) and plain in seen:
            return f"write {seen[plain]!r} and {value!r} in one way, as they are meant as one class"
        seen[plain] = value
    return ""


def _hint_at_missing(values: Sequence[Hashable]) -> str:
    """What to do about a label that is a usual word for no label."""
    for value in values:
        if isinstance(value, str) and value.strip().casefold() in NO_LABEL:
            return f"declare {argument('unlabeled', repr(value))} if it means no label"
    return ""


def _order_ascending(raw: RawLabels, n_classes: int, one_column: bool) -> tuple[Hashable, ...]:
    values = sorted(raw.values)  # type: ignore[type-var]
    if values[0] == -1:
        raise InputError(
            f"label -1 at row {raw.find_first_row(-1)}, undeclared, among labels {quote(values)}",
            allowed=f"classes 0..{n_classes - 1}, NaN or None where unlabeled",
            fix=f"declare {argument('unlabeled', -1)} if it means no label, or list "
            f"{argument('classes')} if it is a class",
        )
    if set(values) <= set(range(n_classes)):
        return tuple(range(n_classes))
    if len(values) == n_classes:
        return tuple(values)
    hint = MANY_CLASSES if one_column else ""
    outside = next(value for value in values if value not in range(n_classes))
    raise InputError(
        f"label {outside!r} at row {raw.find_first_row(outside)} among {quote(values)}, "
        f"with scores over {n_classes} classes",
        allowed=f"labels 0..{n_classes - 1}, or {n_classes} distinct integers",
        fix=f"list {argument('classes', '[...]')} in the order of the scores, or declare "
        f"{argument('unlabeled', repr(outside))} if it means no label{hint}",
    )


def _explain_unordered(raw: RawLabels, n_classes: int, one_column: bool) -> InputError:
    odd = next((value for value in raw.values if isinstance(value, float)), None)
    if odd is not None:
        return InputError(
            f"the label at row {raw.find_first_row(odd)} is {odd!r}",
            allowed="integers, booleans or text naming a class",
            fix="labels are classes, not probabilities; check that "
            f"{argument('label')} names the label column",
        )
    kinds = {type(value).__name__ for value in raw.values}
    if len(kinds) > 1:
        return InputError(
            f"labels are of mixed types ({', '.join(sorted(kinds))}): {quote(raw.values)}",
            allowed="labels of one type",
            fix=f"convert them, or list {argument('classes', '[...]')}",
        )
    if len(raw.values) > n_classes:
        return InputError(
            f"there are {len(raw.values):,} different labels ({quote(raw.values)}) and scores over "
            f"{n_classes} classes",
            allowed=f"at most {n_classes} different labels",
            fix=_hint_at_spelling(raw.values)
            or _hint_at_missing(raw.values)
            or f"check that {argument('label')} names the label column; declare with "
            f"{argument('unlabeled')} what means no label"
            + (MANY_CLASSES if one_column else ""),
        )
    names = repr(sorted(map(str, raw.values))) if len(raw.values) == n_classes <= FEW else NAMES
    fix = (
        "list them in the order of the scores (in scikit-learn that of classes_, which is sorted), "
        f"the positive one of two last: {argument('classes', names)}"
    )
    if one_column and len(raw.values) == 2:
        either = [argument("positive", repr(value)) for value in raw.values]
        fix = f"name the one whose probability the scores are: {either[0]} or {either[1]}"
    elif one_column:
        fix += f", or name the positive one with {argument('positive')}"
    return InputError(
        f"nothing says which of the {n_classes} classes of the scores the labels "
        f"{quote(raw.values)} are",
        allowed="text classes with their order given",
        fix=fix,
    )


def encode(raw: RawLabels, classes: Sequence[Hashable]) -> NDArray[np.int64]:
    """Class index per row, -1 where unlabeled."""
    place = {name: index for index, name in enumerate(classes)}
    for index, name in enumerate(classes):  # 1 is the class "1", as CSV files write it
        if isinstance(name, str) and INTEGER.fullmatch(name):
            place.setdefault(int(name), index)
    unknown = [value for value in raw.values if value not in place]
    if unknown:
        value = unknown[0]
        more = len(unknown) - 1
        many = f" (and {more} other such value{'s' * (more > 1)})" if more else ""
        raise InputError(
            f"label {value!r} at row {raw.find_first_row(value)} is not a class{many}",
            allowed=f"the classes {quote(classes)}, NaN, None or empty where unlabeled",
            fix=_map_labels(classes)
            if 1 < len(unknown) == len(raw.values) and not _hint_at_type(value, classes)
            else f"{suggest_nearest(value, classes)}correct it, declare "
            f"{argument('unlabeled', repr(value))} if it means no label, or list it in "
            f"{argument('classes')}" + _hint_at_type(value, classes),
        )
    table = np.array([place[value] for value in raw.values] + [-1], dtype=np.int64)
    labels: NDArray[np.int64] = table[raw.codes]
    return labels


def _map_labels(classes: Sequence[Hashable]) -> str:
    """What to do where labels and scores have no name of a class in common."""
    return (
        "labels and scores name the classes in different ways: write the labels as "
        f"{quote(classes)}, give the columns of scores the names of the labels, or list those in "
        f"{argument('classes')}"
    )


def _hint_at_type(value: Hashable, classes: Sequence[Hashable]) -> str:
    if any(str(value) == str(name) for name in classes):
        return f"; the label is {type(value).__name__}, the class is not"
    return ""
