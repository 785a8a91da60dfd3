"""Config files: TOML, YAML or JSON with sections ``read``, ``run`` and ``engine``.

file = "scores.csv"

[read]
label = "y"
models = ["forest", "logistic"]

[run]
method = "auto"
metric = ["accuracy", "ece"]
option = {n_draws = 500}
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssme.errors import InputError, MissingExtraError

__all__ = ["read_config", "to_toml", "write_config"]

SECTIONS = ("read", "run", "engine")


def read_config(path: Path) -> dict[str, Any]:
    """The config in ``path``, checked for its outer shape: ``file`` and the sections."""
    try:
        text = path.read_text(encoding="utf-8")
        config = _parser(path)(text)
    except FileNotFoundError:
        raise InputError(f"there is no config file {path}", fix="check the path") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"config {path} does not parse: {error}") from None
    if not isinstance(config, dict):
        raise InputError(f"config {path} is no table of settings", fix="see `ssme evaluate --help`")
    for key, value in config.items():
        if key != "file" and key not in SECTIONS:
            raise InputError(f"config {path} has {key!r}", allowed=f"file, {', '.join(SECTIONS)}")
        if key in SECTIONS and not isinstance(value, dict):
            raise InputError(f"config {path}: {key!r} is no section", allowed=f"a table [{key}]")
    return config


def write_config(config: Mapping[str, Any], path: Path) -> None:
    """Write ``config`` in the format of the suffix."""
    suffix = _suffix(path)
    if suffix == ".toml":
        text = to_toml(config)
    elif suffix == ".json":
        text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _yaml().safe_dump(dict(config), sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")


def to_toml(config: Mapping[str, Any]) -> str:
    """TOML text of ``file`` and the sections; null is left out, as TOML has none."""
    head = [f"{key} = {_toml(v)}" for key, v in config.items() if not isinstance(v, Mapping)]
    parts = ["\n".join(head)] if head else []
    for key, section in config.items():
        if isinstance(section, Mapping):
            lines = [f"{_key(k)} = {_toml(v)}" for k, v in section.items() if v is not None]
            parts.append("\n".join([f"[{key}]", *lines]))
    return "\n\n".join(parts) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{_key(k)} = {_toml(v)}" for k, v in value.items() if v is not None)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "")
    return name if bare.isascii() and bare.isalnum() else _toml(name)


def _parser(path: Path) -> Any:
    return {".toml": tomllib.loads, ".json": json.loads}.get(_suffix(path)) or _parse_yaml


def _parse_yaml(text: str) -> Any:
    yaml = _yaml()
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(error) from None


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("a YAML config", "yaml") from None
    return yaml


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".json", ".yaml", ".yml"):
        raise InputError(
            f"config {path}", allowed="a name that ends in .toml, .yaml, .yml or .json"
        )
    return suffix
