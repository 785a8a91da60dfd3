"""Values that an option's declared kind accepts, and garbage, for tests that generate them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ssme.options import (
    Enumeration,
    Flag,
    Kind,
    NamedValues,
    Nothing,
    Number,
    OneOf,
    Series,
    Text,
    ValueKind,
    Whole,
)
from ssme.schema import CLASS_NAME, CODES, COLUMN_MAP, FILE_NAME, MARK, NAMES, NO_LABELS

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(
    lambda text: bool(text.strip())
)
CLASSES = TEXT | st.integers(-(10**9), 10**9) | st.booleans() | st.floats(-1e6, 1e6)

GARBAGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.binary(max_size=3),
    st.lists(st.integers() | st.text(max_size=2), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.just(object()),
    st.just(len),
)


def values_of(kind: ValueKind) -> st.SearchStrategy[Any]:
    """Values that ``kind`` accepts; a kind of Python objects has none here."""
    if isinstance(kind, OneOf):
        return st.one_of([values_of(each) for each in kind.kinds])
    if isinstance(kind, Whole):
        return st.integers(kind.least, kind.most)
    if isinstance(kind, Number):
        return st.floats(
            kind.least,
            kind.most,
            allow_nan=False,
            allow_infinity=False,
            exclude_min=kind.open_least,
            exclude_max=kind.open_most,
        )
    if isinstance(kind, Series):
        least = kind.length if kind.length is not None else kind.least
        most = kind.length if kind.length is not None else least + 3
        return st.lists(values_of(kind.kind), min_size=least, max_size=most)
    if isinstance(kind, Enumeration):
        return st.sampled_from(kind.values)
    if isinstance(kind, Kind):
        return _BY_WORDS.get(kind.words, st.nothing())
    return _BY_TYPE.get(type(kind), st.nothing())


_BY_TYPE: dict[type, st.SearchStrategy[Any]] = {
    Flag: st.booleans(),
    Text: TEXT,
    Nothing: st.none(),
    NamedValues: st.just({}),
}
_BY_WORDS: dict[str, st.SearchStrategy[Any]] = {
    CLASS_NAME.words: CLASSES,
    CODES.words: CLASSES | st.lists(CLASSES, min_size=1, max_size=3),
    NAMES.words: st.lists(TEXT, min_size=1, max_size=3),
    COLUMN_MAP.words: st.dictionaries(
        TEXT,
        TEXT
        | st.lists(TEXT, min_size=1, max_size=3)
        | st.dictionaries(CLASSES, TEXT, min_size=1, max_size=3),
        min_size=1,
        max_size=3,
    ),
    "text with {model} and {class} in it, such as '{model}:{class}'": st.builds(
        lambda text: "{model}" + text + "{class}", st.sampled_from(":-_. ")
    ),
    "a single character, such as ',' or ';' or a tab": st.sampled_from(",;|\t "),
    MARK.words: st.sampled_from(".,_"),
    FILE_NAME.words: TEXT,
    NO_LABELS.words: st.just(False),
}
