"""Config files: plain values (text, numbers, true and false, null, lists, tables) kept losslessly
in TOML, YAML or JSON, chosen by the suffix.

source = "scores.csv"

[read]
label = "y"
models = ["forest", "logistic"]

[run]
method = "auto"
metric = ["accuracy", "ece"]
option = {n_draws = 500}

TOML has no null: it is written as ``{null = true}``. Files are read defensively: their size and
depth are limited, a key may occur only once, and YAML's references (``*name``), with which a small
file can unfold into gigabytes, are refused.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ssme.errors import InputError, MissingExtraError, translate_foreign_errors
from ssme.writing import write_bytes

SUFFIXES = (".toml", ".yaml", ".yml", ".json")
LARGEST = 250_000
"""Bytes of the largest config file that is read."""
DEEPEST = 20
"""How deep tables and lists may be nested."""
NULL = {"null": True}
"""How null is written in TOML, which has none."""


def read_config(path: str | Path) -> dict[str, Any]:
    """The config in ``path``, a table; `ssme.RunSpec.from_dict` checks what it contains."""
    file = Path(path)
    suffix = _check_suffix(file)
    return parse_config(_read_text(file), suffix, f"config {file}")


def write_config(config: Mapping[str, Any], path: str | Path) -> None:
    """Write ``config`` in the format of the suffix, so that `read_config` gives it back."""
    file = Path(path)
    write_bytes(file, format_config(config, _check_suffix(file)).encode("utf-8"))


def format_config(config: Mapping[str, Any], suffix: str) -> str:
    """The text of ``config`` in the format that ``suffix`` names; what it cannot hold is refused.

    Examples
    --------
    >>> print(format_config({"source": "a.csv", "run": {"level": 0.9}}, ".toml"))
    source = "a.csv"
    <BLANKLINE>
    [run]
    level = 0.9
    <BLANKLINE>
    """
    refuse_unwritable(config, ())
    text = _WRITERS[suffix](config)
    with translate_foreign_errors(f"writing a {suffix} config"):
        text.encode("utf-8")
        again = parse_config(text, suffix, "the config")
    if not _is_same(again, config):
        problem = f"a {suffix} file cannot represent some of the text or numbers of this config"
        raise InputError(problem, hint="write it as .json")
    return text


def parse_config(text: str, suffix: str, what: str) -> dict[str, Any]:
    """The values in ``text``; ``what`` it is called in messages."""
    try:
        with translate_foreign_errors(
            f"parsing {what}", hint="`ssme evaluate --save-config` writes one"
        ):
            config = _PARSERS[suffix](text)
    except InputError as error:
        if isinstance(error.__cause__, RecursionError):
            raise _tell_too_deep(what) from None
        raise
    if not isinstance(config, dict):
        problem = f"{what} is not a table of settings"
        raise InputError(problem, hint="`ssme evaluate --save-config` writes one")
    _refuse_depth(config, what)
    return config


def to_toml(config: Mapping[str, Any]) -> str:
    """TOML text of ``config``: its plain values first, then each table as a section."""
    head = {key: value for key, value in config.items() if not isinstance(value, Mapping)}
    parts = ["\n".join(_write_lines(head))] if head else []
    for key, section in config.items():
        if key not in head:
            parts.append("\n".join([f"[{_format_key(key)}]", *_write_lines(section)]))
    return "\n\n".join(parts) + "\n"


def _write_lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{_format_key(name)} = {_format_toml(value)}" for name, value in values.items()]


def _format_toml(value: Any) -> str:
    if value is None:
        value = NULL
    if isinstance(value, Mapping):
        return "{" + ", ".join(_write_lines(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_format_toml(item) for item in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _format_key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "")
    return name if bare.isascii() and bare.isalnum() else _format_toml(name)


def _to_yaml(config: Mapping[str, Any]) -> str:
    yaml = _import_yaml()

    class Dumper(yaml.SafeDumper):  # type: ignore[misc,name-defined]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    plain = make_plain(config)
    text: str = yaml.dump(plain, Dumper=Dumper, sort_keys=False, allow_unicode=True)
    try:
        if _is_same(_parse_yaml(text), plain):
            return text
    except (ValueError, InputError, yaml.YAMLError):
        pass  # rare characters, which only their escapes bring back
    escaped: str = yaml.dump(plain, Dumper=Dumper, sort_keys=False, allow_unicode=False)
    return escaped


def _restore_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        if list(value) == ["null"] and value["null"] is True:
            return None
        return {key: _restore_nulls(item) for key, item in value.items()}
    return [_restore_nulls(item) for item in value] if isinstance(value, list) else value


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} occurs twice")
        found[key] = value
    return found


def _parse_yaml(text: str) -> Any:
    yaml = _import_yaml()

    class Loader(yaml.SafeLoader):  # type: ignore[misc,name-defined]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise ValueError("it refers to another place with *, which is not allowed here")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [(self.construct_object(key, deep=True), None) for key, _ in node.value]
            for key, _ in keys:
                if not isinstance(key, str):
                    raise ValueError(f"the key {key!r} is not text")
            _refuse_repeated(keys)
            return super().construct_mapping(node, deep)

    return yaml.load(text, Loader=Loader)


_PARSERS: dict[str, Callable[[str], Any]] = {
    ".toml": lambda text: _restore_nulls(tomllib.loads(text)),
    ".json": lambda text: json.loads(text, object_pairs_hook=_refuse_repeated),
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
}
_WRITERS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    ".toml": to_toml,
    ".json": lambda config: json.dumps(config, indent=2) + "\n",
    ".yaml": _to_yaml,
    ".yml": _to_yaml,
}


def _import_yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("a YAML config", "yaml") from None
    return yaml


def _read_text(file: Path) -> str:
    if not file.exists():
        raise InputError(f"there is no config file {file}", hint="check the path")
    if not file.is_file():
        raise InputError(f"config {file} is not a regular file", hint="name a file")
    with file.open("rb") as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        problem = f"config {file} has more than {LARGEST:,} bytes"
        raise InputError(problem, hint="check that it is the right file")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"config {file} is not UTF-8: {error}") from None


def _check_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        # whoever asked for the file names its option: --config, or --save-config
        raise InputError(f"{str(path)!r} must end in .toml, .yaml, .yml or .json")
    return suffix


def _refuse_depth(value: Any, what: str, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise _tell_too_deep(what)
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            _refuse_depth(item, what, depth + 1)


def _tell_too_deep(what: str) -> InputError:
    return InputError(
        f"{what} is nested too deeply", hint=f"nest at most {DEEPEST} tables and lists"
    )


def refuse_unwritable(value: Any, where: tuple[str, ...] = ()) -> None:
    """Name the first value that no file can hold."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise _tell_unwritable(key, (*where, "a key"))
            refuse_unwritable(item, (*where, key))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            refuse_unwritable(item, (*where, f"item {number + 1}"))
    elif value is not None and type(value) not in (str, int, float, bool):
        raise _tell_unwritable(value, where)


def _tell_unwritable(value: Any, where: tuple[str, ...]) -> InputError:
    return InputError(
        f"{', '.join(where) or 'the config'} is a {type(value).__name__}, which cannot be "
        "written to a file",
        hint="call ssme from Python for this run",
    )


def make_plain(value: Any) -> Any:
    """``value`` with lists for tuples and arrays, as files contain them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: make_plain(item) for key, item in value.items()}
    return [make_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _is_same(one: Any, two: Any) -> bool:
    """Whether two plain values are equal, types and order of keys included; NaN equals NaN."""
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return list(one) == list(two) and all(_is_same(one[key], two[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(map(_is_same, one, two))
    return type(one) is type(two) and (one == two or (one != one and two != two))


def read_typed(text: str) -> Any:
    """A class as people type it: whole numbers, fractions and true or false are meant as such."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, int | float) and math.isfinite(value) else text
