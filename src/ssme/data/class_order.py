"""The order of classes: that of a list, of numbers or of a well-known pair; else there is none.

Neither rows nor columns nor the alphabet say which of two classes is positive, or which order
grades have. Where nothing says it, classes are sorted, so that a table gives the same set however
it was shuffled, and metrics that depend on their order are refused (`ScoreSet.ordered`).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

from ssme.data.values import make_plain
from ssme.errors import InputError, argument
from ssme.wording import quote

__all__ = [
    "ClassOrder",
    "convert_as_labels",
    "is_number",
    "name_order",
    "order_classes",
    "refuse_unknown_positive",
    "sort_names",
    "spell_class",
]

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
