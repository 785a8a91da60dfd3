"""Class names as tables write them: in column names or in a class column, often as text."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from ssme.data.labels import RawLabels
from ssme.errors import InputError
from ssme.wording import quote

__all__ = ["convert_as_labels", "order_names", "spell_class"]


def spell_class(value: Hashable) -> str:
    """How a class reads in a column name; booleans in any capitals."""
    text = str(value)
    return text.lower() if text.lower() in ("true", "false") else text


def order_names(
    names: Sequence[Hashable],
    classes: Sequence[Hashable] | None = None,
    positive: Hashable | None = None,
) -> tuple[Hashable, ...]:
    """``names`` in the explicit order, else ascending if all are integers, else as found.

    ``positive`` puts one of two classes last.
    """
    by_text = {spell_class(name): name for name in names}
    if classes is not None:
        wanted = [spell_class(name) for name in classes]
        if sorted(wanted) != sorted(by_text):
            raise InputError(
                f"classes {quote(classes)} and the classes in the data {quote(names)} differ",
                allowed="the same classes in both",
                fix="list the classes as the data names them, each once",
            )
        return tuple(by_text[text] for text in wanted)
    if all(map(_is_integer, by_text)):
        ordered = [by_text[text] for text in sorted(by_text, key=int)]
    elif set(by_text) == {"false", "true"}:
        ordered = [by_text["false"], by_text["true"]]
    else:
        ordered = list(names)
    if positive is not None and len(ordered) == 2:
        ordered.sort(key=lambda name: spell_class(name) == spell_class(positive))
    return tuple(ordered)


def convert_as_labels(names: Sequence[Hashable], raw: RawLabels) -> tuple[Hashable, ...]:
    """Names found as text, as integers or booleans if they look so and no label is text."""
    texts = [spell_class(name) for name in names]
    if any(isinstance(value, str) for value in raw.values):
        return tuple(str(name) for name in names)
    if all(map(_is_integer, texts)):
        return tuple(int(text) for text in texts)
    if set(texts) == {"true", "false"}:
        return tuple(text == "true" for text in texts)
    return tuple(names)


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"-?\d+", text) is not None
