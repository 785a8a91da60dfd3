"""Options as checked data: allowed values, meaning and default.

An option is declared once, as a field of a dataclass:

    @dataclass(frozen=True)
    class Vote(Declared):
        n_draws: int = option(500, "Label vectors drawn for the estimates.", Whole(least=1))

Making a `Vote` checks every value. ``-O n_draws=5`` on the command line, a config file, ``ssme
methods vote`` and the reference in the docs read the same declaration (`list_declared`), so they
cannot disagree with it.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import Field, field, fields, is_dataclass
from functools import cache
from inspect import Parameter, Signature, cleandoc, signature
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol, TypeVar

from ssme.errors import InputError
from ssme.wording import suggest_nearest

F = TypeVar("F", bound=Callable[..., Any])
N = TypeVar("N", int, float)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def parse_number(text: str) -> float:
    """The finite number that ``text`` writes with the digits 0 to 9; `ValueError` for all else.

    ``float`` also takes 0_1, which is 1, digits of other scripts, nan and inf.
    """
    if _DECIMAL.fullmatch(text.strip()) is None or not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


class ValueKind(Protocol):
    """What values an option takes."""

    def accept(self, value: Any) -> Any:
        """``value`` as the program uses it; `ValueError` if it is not of this kind."""

    def describe(self) -> str:
        """The values in words: "a whole number of at least 1"."""


class Whole(NamedTuple):
    """Whole numbers between two ends, both allowed; not True and not 2.0."""

    least: int | None = None
    most: int | None = None

    def accept(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise ValueError
        return _check_range(int(value), self.least, self.most)

    def describe(self) -> str:
        return "a whole number" + _describe_range(self.least, self.most)


class Number(NamedTuple):
    """Finite numbers between two ends; an end is left out where ``open`` says so."""

    least: float | None = None
    most: float | None = None
    open_least: bool = False
    open_most: bool = False

    def accept(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError
        number = _check_range(float(value), self.least, self.most)
        ends = [self.least] * self.open_least + [self.most] * self.open_most
        if number in ends or not math.isfinite(number):
            raise ValueError
        return number

    def describe(self) -> str:
        return "a number" + _describe_range(self.least, self.most, self.open_least, self.open_most)


class Flag:
    """True or False; neither 1 nor the text "false"."""

    def accept(self, value: Any) -> bool:
        if type(value).__name__ not in ("bool", "bool_"):
            raise ValueError
        return bool(value)

    def describe(self) -> str:
        return "true or false"


class Text(NamedTuple):
    """Text, which may be of blanks alone only where ``blank`` says so (a tab that delimits)."""

    blank: bool = False

    def accept(self, value: Any) -> str:
        if not isinstance(value, str) or not (value if self.blank else value.strip()):
            raise ValueError
        return value

    def describe(self) -> str:
        return "text"


class Enumeration:
    """One of some values, which are text or numbers."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def accept(self, value: Any) -> Any:
        for each in self.values:
            if type(each) is type(value) and each == value:
                return each
        raise ValueError

    def describe(self) -> str:
        return _join_or([json.dumps(value, default=str) for value in self.values])


class Nothing(NamedTuple):
    """None: leave the choice to the program."""

    meaning: str = "nothing"

    def accept(self, value: Any) -> None:
        if value is not None:
            raise ValueError

    def describe(self) -> str:
        return f"null ({self.meaning})"


class OneOf:
    """Whatever one of several kinds takes; the first that does decides."""

    def __init__(self, *kinds: ValueKind) -> None:
        self.kinds = kinds

    def accept(self, value: Any) -> Any:
        for kind in self.kinds:
            try:
                return kind.accept(value)
            except ValueError:
                continue
        raise ValueError

    def describe(self) -> str:
        return _join_or([kind.describe() for kind in self.kinds])


class Series(NamedTuple):
    """A list of values of one kind, kept as a tuple."""

    kind: ValueKind
    length: int | None = None
    least: int = 0

    def accept(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise ValueError
        items = tuple(self.kind.accept(item) for item in value)
        if len(items) < self.least or (self.length is not None and len(items) != self.length):
            raise ValueError
        return items

    def describe(self) -> str:
        count = "" if self.length is None else f"{self.length} values, "
        return f"a list ({count}each {self.kind.describe()})"


class NamedValues:
    """Values by name, each checked by its user."""

    def accept(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise ValueError
        return dict(value)

    def describe(self) -> str:
        return "a table of values by name"


class Instance(NamedTuple):
    """An object of one class, which no file and no command line can hold."""

    of: type

    def accept(self, value: Any) -> Any:
        if not isinstance(value, self.of):
            raise ValueError
        return value

    def describe(self) -> str:
        return f"an object of {self.of.__module__}.{self.of.__qualname__}"


class Anything(NamedTuple):
    """An object of Python that no file and no command line can hold, checked by its user."""

    description: str

    def accept(self, value: Any) -> Any:
        return value

    def describe(self) -> str:
        return self.description


class Kind(NamedTuple):
    """Values that a function takes, which raises `ValueError` for all others."""

    accept: Callable[[Any], Any]
    words: str
    shape: str = "text"
    types: tuple[str, ...] = ("string",)
    """Their types in JSON."""
    values: tuple[Any, ...] = ()
    """Those that are offered to choose from."""

    def describe(self) -> str:
        return self.words


class Option(NamedTuple):
    """One declared option: what Python, flags, config files, forms and the reference share."""

    name: str
    kind: ValueKind
    default: Any
    meaning: str
    python_only: bool = False
    section: str = ""
    """Section of config files, and of help pages."""
    short: str = ""
    """Short flag, such as ``-y``."""
    off: tuple[str, Any, str] | None = None
    """A flag without a value: its name, the value it sets and its meaning."""
    file_kind: ValueKind | None = None
    """The values allowed in a config file, where Python takes more."""
    title: str = ""
    """What the page calls it, if not by its name."""
    part: str = ""
    """What the page calls a column that it names."""
    positional: str = ""
    """What the help calls it, if the command line takes it without a flag."""
    writes: bool = False
    """Whether it names a file that is written."""
    files: tuple[str, ...] = ()
    """Suffixes of files, if it says how files of one kind are written."""

    @property
    def key(self) -> str:
        """The name in config files and, with dashes, as a flag: ``class`` for ``class_``."""
        return self.name.rstrip("_")

    @property
    def kinds(self) -> tuple[ValueKind, ...]:
        """The kinds of which it takes one."""
        return self.kind.kinds if isinstance(self.kind, OneOf) else (self.kind,)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values to choose from, if they are listed."""
        return tuple(value for kind in self.kinds for value in getattr(kind, "values", ()))

    @property
    def usual(self) -> str:
        """What happens without a value, where None may be given."""
        return next((kind.meaning for kind in self.kinds if isinstance(kind, Nothing)), "")

    @property
    def shape(self) -> str:
        """How it is typed: flag, whole, number, path(s), class(es), list, texts, choice or text."""
        shapes = [getattr(kind, "shape", _SHAPES.get(type(kind), "text")) for kind in self.kinds]
        shapes = [shape for shape in shapes if shape]
        return "list" if "list" in shapes else shapes[0] if shapes else "text"


_SHAPES: dict[type, str] = {
    Whole: "whole",
    Number: "number",
    Flag: "flag",
    Enumeration: "choice",
    Nothing: "",
    Series: "list",
    NamedValues: "list",
}


def option(
    default: Any, meaning: str, kind: ValueKind, *, python_only: bool = False, **more: Any
) -> Any:
    """Declare a dataclass field as an option.

    ``meaning`` is a full sentence for help texts and the reference. ``python_only`` is for objects
    that no file and no flag can hold; ``more`` are further fields of `Option`.
    """
    declared = Option("", kind, default, meaning, python_only, **more)
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata={"option": declared})
    return field(default=default, metadata={"option": declared})


def optional(meaning: str, *kinds: ValueKind, usual: str = "", **more: Any) -> Any:
    """Declare an option of these kinds that may be left out; ``usual`` says what happens then."""
    return option(None, meaning, OneOf(*kinds, Nothing(usual)), **more)


def list_declared(cls: Any) -> tuple[Option, ...]:
    """The options that the dataclass ``cls`` declares, in order; keyword-only ones come last."""
    return _list_declared(cls if isinstance(cls, type) else type(cls))


@cache
def _list_declared(cls: Any) -> tuple[Option, ...]:
    return tuple(
        each.metadata["option"]._replace(name=each.name)
        for each in sorted(fields(cls), key=lambda field: bool(field.kw_only))
        if each.init and "option" in each.metadata
    )


class Declared:
    """A dataclass whose options are checked when an object is made.

    The docstring of a public subclass gets a section Parameters, written from what it declares.
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        doc = None if cls.__name__.startswith("_") else cls.__doc__
        if doc and "Parameters\n" not in doc and "Attributes\n" not in doc:
            cls.__doc__ = _insert_parameters(doc, _list_unfinished(cls))

    def __post_init__(self) -> None:
        for each in list_declared(self):
            value = getattr(self, each.name)
            if value is not each.default:  # defaults are checked by a test, not by every run
                object.__setattr__(self, each.name, accept(each, value))


def _list_unfinished(cls: type) -> list[Option]:
    """The options of a class that is not made into a dataclass yet, inherited ones first."""
    bases = [base for base in reversed(cls.__bases__) if is_dataclass(base)]
    found = {each.name: each for base in bases for each in list_declared(base)}
    for name, value in vars(cls).items():
        if isinstance(value, Field) and "option" in value.metadata:
            found[name] = value.metadata["option"]._replace(name=name)
    return list(found.values())


def _insert_parameters(doc: str, options: list[Option]) -> str:
    """``doc`` with a section about ``options`` before its examples."""
    if not options:
        return doc
    lines = ["Parameters", "----------", *_list_parameters(options)]
    head, mark, examples = cleandoc(doc).partition("Examples\n--------\n")
    return "\n\n".join([head.rstrip(), "\n".join(lines), *([mark + examples] if mark else [])])


def _list_parameters(options: Iterable[Option]) -> Iterator[str]:
    for each in options:
        default = describe_default(each)
        yield f"{each.name} : {each.kind.describe()}"
        off = f" {each.off[1]!r}: {each.off[2][:1].lower()}{each.off[2][1:]}" if each.off else ""
        yield f"    {each.meaning}{off}" + (f" The default is {default}." if default else "")


def takes(cls: type, without: Collection[str] = ()) -> Callable[[F], F]:
    """Write the options of ``cls`` into the signature and the docstring of a function.

    They take the place of ``**options``; those ``without`` are left out.
    """
    options = [each for each in list_declared(cls) if each.name not in without]
    keywords = [Parameter(o.name, Parameter.KEYWORD_ONLY, default=o.default) for o in options]

    def describe(function: F) -> F:
        own = list(signature(function).parameters.values())[:-1]
        names = {each.name for each in own}
        new = [each for each in keywords if each.name not in names]
        function.__signature__ = Signature([*own, *new])  # type: ignore[attr-defined]
        lines = "\n".join(_list_parameters([each for each in options if each.name not in names]))
        head, mark, rest = cleandoc(function.__doc__ or "").partition("**options\n")
        explained = rest.startswith("    ")
        function.__doc__ = f"{head}{lines}\n{mark if explained else ''}{rest}"
        return function

    return describe


def accept(of: Option, value: Any) -> Any:
    """``value`` for the option; `InputError` names the option, the value and what is allowed."""
    try:
        return of.kind.accept(value)
    except (ValueError, TypeError, OverflowError):
        words = _join_or([kind.describe() for kind in of.kinds if not isinstance(kind, Nothing)])
        if isinstance(value, Real):
            whole = "(whole )?" if isinstance(value, Integral) else ""
            words = re.sub(f"^a {whole}number (of )?(?=between|above|below|at)", "", words)
        hint = suggest_nearest(value, of.choices) if isinstance(value, str) else ""
        raise InputError(option=of.name, value=value, must=f"be {words}", hint=hint) from None


def accept_all(cls: Any, given: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """``given`` values checked against the options of ``cls``; an unknown name is an error."""
    known = refuse_unknown(cls, given, owner)
    return {name: accept(known[name], value) for name, value in given.items()}


def refuse_unknown(cls: Any, given: Mapping[str, Any], owner: str) -> dict[str, Option]:
    """The options of ``cls`` by name; ``given`` names must be among them (``owner``: whose)."""
    known = {each.name: each for each in list_declared(cls)}
    for name in given:
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            problem = f"{owner} has no option {name!r}"
            hint = f"{suggest_nearest(name, known)}its options are: {names}"
            raise InputError(problem, hint=hint)
    return known


def parse_text(of: Option, text: str) -> Any:
    """The value that ``text`` spells on a command line: JSON (3, 0.5, true, null), else text."""
    if of.python_only:
        problem = f"the option {of.name!r} takes {of.kind.describe()}"
        raise InputError(problem, hint="call ssme from Python to give it")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    try:
        return of.kind.accept(value)
    except (ValueError, TypeError, OverflowError):
        return accept(of, text)


def make_json_schema(kind: ValueKind) -> dict[str, Any]:
    """The values of ``kind`` as JSON Schema describes them; a kind of Python objects has no type.

    Examples
    --------
    >>> make_json_schema(OneOf(Nothing(), Whole(least=1)))
    {'anyOf': [{'type': 'null'}, {'type': 'integer', 'minimum': 1}]}
    """
    if isinstance(kind, OneOf):
        return {"anyOf": [make_json_schema(each) for each in kind.kinds]}
    if isinstance(kind, Enumeration):
        return {"enum": list(kind.values)}
    if isinstance(kind, Series):
        least = kind.least if kind.length is None else kind.length
        return {"type": "array", "items": make_json_schema(kind.kind), "minItems": least}
    if isinstance(kind, Kind):
        return {"type": list(kind.types)}
    if not isinstance(kind, Whole | Number):
        known = _JSON_TYPES.get(type(kind))
        return {} if known is None else {"type": known}
    found: dict[str, Any] = {"type": "integer" if isinstance(kind, Whole) else "number"}
    lower = "exclusiveMinimum" if getattr(kind, "open_least", False) else "minimum"
    upper = "exclusiveMaximum" if getattr(kind, "open_most", False) else "maximum"
    ends = {lower: kind.least, upper: kind.most}
    return found | {name: end for name, end in ends.items() if end is not None}


_JSON_TYPES: dict[type, str] = {
    Flag: "boolean",
    NamedValues: "object",
    Nothing: "null",
    Text: "string",
}


def describe_default(of: Option) -> str:
    """What the option is when nobody gives it; nothing for a flag that is off.

    Examples
    --------
    >>> describe_default(Option("level", Number(), 0.95, "Coverage."))
    '0.95'
    >>> describe_default(Option("id", OneOf(Nothing("the column id"), Text()), None, "Rows."))
    'the column id'
    """
    if of.default is None:
        return of.usual
    if of.default is False or of.default in ((), {}) or of.python_only:
        return ""
    is_text = isinstance(of.default, str | os.PathLike)
    return str(of.default) if is_text else json.dumps(of.default, default=str)


def _check_range(value: N, least: float | None, most: float | None) -> N:
    if (least is not None and value < least) or (most is not None and value > most):
        raise ValueError
    return value


def _describe_range(
    least: float | None, most: float | None, open_least: bool = False, open_most: bool = False
) -> str:
    if least is not None and most is not None and open_least == open_most:
        return f" between {_format_digits(least)} and {_format_digits(most)}"
    words = []
    if least is not None:
        words.append(f"{'above' if open_least else 'of at least'} {_format_digits(least)}")
    if most is not None:
        words.append(f"{'below' if open_most else 'at most'} {_format_digits(most)}")
    return f" {' and '.join(words)}" if words else ""


def _format_digits(end: float) -> str:
    return f"{end:,}" if isinstance(end, int) else f"{end:g}"


def _join_or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
