"""Words for people: short lists, what was probably meant, and names that are safe to show.

Names of models, groups, classes and columns come from files, so anything may be in them. Whatever
shows a name (a terminal, a page, a chart) passes it through `make_printable` or `shorten` first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

UNSAFE = frozenset(("Cc", "Cs", "Cn", "Zl", "Zp"))
"""Unicode categories that can move a cursor, change colors, or cannot be encoded."""

BLANK = "(blank)"

DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Marks that change the direction of the text after them."""
_ODD = re.compile(r"[^\n\t -~]")


def quote(items: Iterable[object], limit: int = 8) -> str:
    """``'a', 'b', 'c' and 4 more``."""
    names = [repr(item) for item in items]
    if not names:
        return "none"
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def suggest_nearest(name: object, choices: Iterable[object]) -> str:
    """A hint such as "did you mean 'bert'? " or nothing."""
    from difflib import get_close_matches  # messages of errors alone need it

    close = get_close_matches(str(name), [str(choice) for choice in choices], n=3, cutoff=0.6)
    return f"did you mean {' or '.join(repr(match) for match in close)}? " if close else ""


def find_pattern(names: Collection[str], columns: Iterable[str]) -> list[str]:
    """``names`` as one pattern such as ``judge_*`` where it matches no other of the columns.

    Examples
    --------
    >>> find_pattern(["m_a", "m_b", "m_c", "m_d"], ["id", "m_a", "m_b", "m_c", "m_d"])
    ['m_*']
    """
    first, last = min(names), max(names)
    same = next((n for n, each in enumerate(first) if each != last[n : n + 1]), len(first))
    prefix = re.sub(r"[a-zA-Z0-9]*$", "", first[:same])
    matched = [name for name in columns if name.startswith(prefix)]
    plain = not set(prefix) & set("*?[,'\"")
    fits = prefix and plain and len(names) == len(matched) > 3
    return [f"{prefix}*"] if fits else list(names)


def make_printable(text: str) -> str:
    """``text`` with every character that a terminal would obey, or cannot encode, escaped.

    Line breaks and tabs stay. A terminal escape sequence becomes visible: ``\\x1b[31m``.
    """
    if text.isprintable():
        return text
    return _ODD.sub(_escape_unsafe, text)


def cut_end(text: str, length: int) -> str:
    """``text`` of at most ``length`` characters; an ellipsis replaces what is cut off.

    Examples
    --------
    >>> cut_end("a long text", 9)
    'a long...'
    """
    return text if len(text) <= length else f"{text[: length - 3]}..."


def escape_all(text: str) -> str:
    """``text`` on one line: line breaks and tabs are escaped too, as in the name of a file."""
    return make_printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape_unsafe(found: re.Match[str]) -> str:
    unsafe = unicodedata.category(found[0]) in UNSAFE or found[0] in DIRECTION
    return found[0].encode("unicode_escape").decode("ascii") if unsafe else found[0]


def shorten_middle(text: str, width: int) -> str:
    """``text`` as `shorten` shows it, but cut in the middle: names often differ at their end.

    Examples
    --------
    >>> shorten_middle("resnet50_finetuned_2024-05-01", 20)
    'resnet50_fin…4-05-01'
    """
    cut, plain = shorten(text, width), " ".join(make_printable(text).split())
    if cut in (plain, BLANK):
        return cut
    end, used = len(plain), 0
    while end and used + _measure_width(plain[end - 1]) <= width // 3 + 1:
        end -= 1
        used += _measure_width(plain[end])
    return _cut(plain, min(end, 4 * width), width - used) + plain[end:]


def shorten(text: str, width: int = 60) -> str:
    """``text`` made printable, on one line, and cut to ``width`` columns with an ellipsis.

    A wide character (Chinese, an emoji) counts as two columns, a combining mark as none. A text
    that would not be seen is shown as ``(blank)``.
    """
    text = " ".join(make_printable(text[: 40 * width]).split())
    if not any(map(_measure_width, text)):
        return BLANK
    used = 0
    for position, character in enumerate(text[: 4 * width]):
        used += _measure_width(character)
        if used > width:
            return _cut(text, position, width)
    return text if len(text) <= 4 * width else _cut(text, 4 * width, width)


def make_distinct(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name cut to ``width`` so that no two read the same.

    They are cut at their ends; where two would read the same, all are cut in the middle; and where
    that does not tell them apart either, they are cut at their ends and numbered.
    """
    every = list(dict.fromkeys(names))
    for cut in (shorten, shorten_middle):
        labels = {name: cut(name, width) for name in every}
        if len(set(labels.values())) == len(every):
            return labels
    labels, taken = {}, set[str]()
    for name in every:
        label = shorten(name, width)
        number = 1
        while label in taken:
            number += 1
            label = f"{shorten(name, width)} ({number})"
        labels[name] = label
        taken.add(label)
    return labels


def _cut(text: str, position: int, width: int) -> str:
    """The first characters of ``text``, with room left for the ellipsis."""
    while position and sum(map(_measure_width, text[:position])) > width - 1:
        position -= 1
    return text[:position].rstrip() + "…"


def _measure_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
