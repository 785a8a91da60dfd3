"""Which classes judges can say where nobody lists them: those among labels and answers.

What is hardly meant as a class is refused: a class written in two ways, a number that is not whole,
a code for "no answer", a judge who says no class of the labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ssme.data.answers import BOOLEANS, Said, is_unsure, strip_punctuation
from ssme.data.class_order import is_number, order_classes, sort_names, spell_class
from ssme.data.labels import RawLabels
from ssme.data.options import AnswerOptions
from ssme.errors import InputError, argument
from ssme.wording import quote, suggest_nearest

__all__ = [
    "find_classes_of_answers",
    "refuse_two_of_one_spelling",
    "refuse_unsure_labels",
    "spell_labels",
]

NO_CLASSES = frozenset(
    (
        *("-1", "-", "--", "?", "N/A", "n/a", "#N/A", "NA", "<NA>", "NaN", "nan", "None", "null"),
        *("idk", "not sure", "undecided", "cannot tell", "can't tell", "cannot determine"),
        *("don't know", "dont know", "do not know", "i don't know", "i do not know"),
    )
)
"""Codes and texts that, unless a label says them, stand for no answer rather than for a class; -1
beside 1 alone is a class."""


def find_classes_of_answers(
    said: Sequence[Said],
    labels: RawLabels,
    classes: Sequence[Hashable] | None,
    positive: Hashable | None,
) -> tuple[Hashable, ...]:
    """The classes, listed or those that occur among labels and answers, in their order.

    ``positive`` puts one of two last.
    """
    if classes is not None:
        names = tuple(classes)
        refuse_two_of_one_spelling(names, "class", "classes")
    else:
        _refuse_no_classes(said, labels)
        names = _list_occurring(said, labels)
    if len(names) < 2:
        raise InputError(
            f"labels and answers name {len(names)} class{'' if len(names) == 1 else 'es'} only"
            + (f": {quote(names)}" if names else ""),
            allowed="two classes or more",
            fix=f"list all classes, the positive one of two last: {argument('classes', '[...]')}",
        )
    if positive is None:
        return names
    found = [name for name in names if spell_class(name) == spell_class(positive)]
    if len(names) != 2 or not found:
        odd = "" if classes is not None else _tell_unlabeled(said, labels)
        raise InputError(
            f"{argument('positive', repr(positive))} does not fit the classes {quote(names)}{odd}",
            allowed=f"{argument('positive')} for two classes, one of them",
            fix=f"{suggest_nearest(positive, names)}name one of two classes, or leave it out"
            + (
                f"; correct an answer that is not a class, or say {argument('unsure', '...')} if "
                "it means that the judge is unsure"
                if odd
                else ""
            ),
        )
    return tuple(sorted(names, key=lambda name: name == found[0]))


def _tell_unlabeled(said: Sequence[Said], labels: RawLabels) -> str:
    """Which class no label has, who says it and where; empty where all have labels."""
    labeled = {spell_class(value) for value in labels.values}
    for each in said:
        for value in each.raw.values:
            if labeled and spell_class(value) not in labeled:
                count = int((each.raw.codes == each.raw.values.index(value)).sum())
                rows = "1 row" if count == 1 else f"{count} rows"
                return (
                    f"; {value!r} is not a label, and {each.judge!r} says it on {rows}, first at "
                    f"row {each.raw.find_first_row(value)}"
                )
    return ""


def _list_occurring(said: Sequence[Said], labels: RawLabels) -> tuple[Hashable, ...]:
    """All values, each once; as the labels write them where both do."""
    by_text: dict[str, Hashable] = {}
    for value in [*labels.values, *sort_names(v for each in said for v in each.raw.values)]:
        by_text.setdefault(spell_class(value), value)
    _refuse_two_spellings(said, labels, list(by_text))
    values = list(by_text.values())
    if values and set(by_text) <= set(BOOLEANS):
        return _spell_as_first(values)
    return order_classes(values, compared=True)


def _refuse_no_classes(said: Sequence[Said], labels: RawLabels) -> None:
    """Refuse answers that are hardly meant as classes, where nobody lists the classes."""
    labeled = {spell_class(value) for value in labels.values}
    spoken = [{spell_class(value) for value in each.raw.values} for each in said]
    known = labeled.union(*(own for own in spoken if own & labeled))
    signs = labeled.union(*spoken) == {"-1", "1"}
    for each in said:
        for value in each.raw.values:
            where = f"answer {value!r} of {each.judge!r} at row {each.raw.find_first_row(value)}"
            if isinstance(value, float):
                raise InputError(
                    f"{where} is a number that is not whole",
                    allowed="classes: text, whole numbers or booleans",
                    fix="give probabilities as scores "
                    f"({argument('models', f'[{each.judge!r}]')} for a column of a table) and "
                    f"grades with {argument('ratings')}; if such numbers are names of classes, "
                    f"list all with {argument('classes', '[...]')}",
                )
            text = spell_class(value)
            coded = text in NO_CLASSES or strip_punctuation(text) in NO_CLASSES
            if coded and text not in labeled and not signs:
                raise InputError(
                    f"{where} looks like a code for no answer, and no label says it",
                    allowed="answers that are classes; empty where there is no answer",
                    fix=f"declare {argument('unsure', repr(value))}, or list all classes with "
                    f"{argument('classes', '[...]')} if it is one",
                )
        _refuse_stranger(each, labels, labeled, known)


def _refuse_stranger(
    said: Said,
    labels: RawLabels,
    labeled: set[str],
    known: set[str],
    *,
    least_labels: int = 10,
    least: int = 10,
) -> None:
    """Refuse a judge whose answers are on another scale than the labels.

    Refused is one with ``least`` answers of which none is ``known``, a class of the labels or one
    that a judge says who also says those, if labels have two classes or more; and one who says
    whole numbers beyond 0 and 1 beside ``least_labels`` labels that are all 0 or 1, which are
    grades.
    """
    own = {spell_class(value) for value in said.raw.values}
    numbers = all(map(is_number, own))
    beyond = own - {"0", "1"}
    binary = labeled <= {"0", "1"} and int((labels.codes >= 0).sum()) >= least_labels
    graded = numbers and len(beyond) > 1 and binary
    apart = not own & known and int((said.raw.codes >= 0).sum()) >= least
    alike = own | labeled <= set(BOOLEANS)
    if not graded and (not apart or len(labeled) < 2 or alike):
        return
    ratings = f"give grades with {argument('ratings', f'[{said.judge!r}]')}; "
    raise InputError(
        f"{said.judge!r} says {quote(sorted(own))}, and the labels are {quote(labels.values)}",
        allowed="answers that name the classes of the labels",
        fix=f"{ratings if numbers else ''}write answers and labels alike, or list all classes with "
        f"{argument('classes', '[...]')}",
    )


def refuse_two_of_one_spelling(names: Sequence[Hashable], one: str, many: str) -> None:
    """Refuse classes or grades that are listed twice: 1 and "1" read the same."""
    seen: dict[str, Hashable] = {}
    for place, name in enumerate(names):
        first = seen.setdefault(spell_class(name), name)
        if first is not name or names.index(name) != place:
            raise InputError(
                f"{argument(many)} lists the {one} {name!r} at place {place}, and {first!r} before",
                allowed=f"each {one} once",
                fix="leave one of them out",
            )


def refuse_unsure_labels(labels: RawLabels, options: AnswerOptions) -> None:
    """Refuse a label that says what a judge says who is unsure, unless it is a declared class."""
    known = {spell_class(name) for name in [*(options.classes or ()), *(options.grades or ())]}
    codes = {spell_class(code) for code in options.unsure or ()}
    for value in labels.values:
        text = spell_class(value)
        if text not in known and (text in codes or is_unsure(value)):
            raise InputError(
                f"the label at row {labels.find_first_row(value)} is {value!r}, by which a judge "
                "says that it is unsure",
                allowed="labels that are classes; empty where the class is not known",
                fix=f"declare {argument('unlabeled', repr(value))} if such rows have no label, or "
                f"list all classes with {argument('classes', '[...]')} if it is one",
            )


def spell_labels(labels: RawLabels, classes: Sequence[Hashable]) -> RawLabels:
    """``labels`` as the classes are written: the label "1.0" is of the class 1."""
    written = {str(name) for name in classes}
    by_text = {spell_class(name): name for name in classes}
    values = [
        value if str(value) in written else by_text.get(spell_class(value), value)
        for value in labels.values
    ]
    if values == list(labels.values):
        return labels
    kept = tuple(dict.fromkeys(values))
    table = np.array([*(kept.index(value) for value in values), -1], dtype=np.int64)
    return RawLabels(table[labels.codes], kept)


def _spell_as_first(values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """0 and 1, or False and True, as the first of ``values`` is written; those of labels are first.

    One of False and True alone stays alone: it may be a class by any other name.
    """
    first = values[0]
    if isinstance(first, bool):
        return (False, True) if len(values) > 1 else (first,)
    if spell_class(first) in ("0", "1"):
        return ("0", "1") if isinstance(first, str) else (0, 1)
    kept = [value for value in values if spell_class(value) in ("false", "true")]
    if len(kept) == 1 and len(values) > 1:
        other = BOOLEANS[BOOLEANS[spell_class(kept[0])].translate(str.maketrans("01", "10"))]
        kept.append(other.upper() if str(first).isupper() else other.capitalize())
    return tuple(sorted(kept, key=spell_class))


def _refuse_two_spellings(said: Sequence[Said], labels: RawLabels, texts: Sequence[str]) -> None:
    """Refuse classes that differ in capitals and punctuation only: a judge's way of writing."""
    seen: dict[str, str] = {}
    for text in texts:
        first = seen.setdefault(strip_punctuation(text), text)
        if first == text:
            continue
        who = (
            f"{each.judge!r} says {text!r} at row {each.raw.find_first_row(value)}"
            for each in said
            for value in each.raw.values
            if spell_class(value) == text
        )
        label = next((value for value in labels.values if spell_class(value) == text), None)
        if label is not None:
            got = f"the label at row {labels.find_first_row(label)} is {text!r}"
        else:
            got = next(who)
        raise InputError(
            f"{got}, and {first!r} is a class too",
            allowed="each class written in one way",
            fix=f"write them alike, or list all classes with {argument('classes', '[...]')} if "
            "they differ",
        )
