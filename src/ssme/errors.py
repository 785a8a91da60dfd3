"""Errors and warnings: what we got, what is allowed, what to do."""

from __future__ import annotations

__all__ = [
    "ConvergenceWarning",
    "InputError",
    "MissingExtraError",
    "SsmeWarning",
    "UndefinedMetricWarning",
    "UnsupportedError",
]


class InputError(ValueError):
    """Bad input, told in three parts: what was found, what is allowed, what to do."""

    def __init__(self, got: str, *, allowed: str | None = None, fix: str | None = None) -> None:
        parts = [_sentence(got)]
        if allowed:
            parts.append(_sentence(f"Allowed: {allowed}"))
        if fix:
            parts.append(_sentence(f"Fix: {fix}"))
        super().__init__(" ".join(parts))
        self.got, self.allowed, self.fix = got, allowed, fix


class UnsupportedError(InputError):
    """A method or metric was asked for something it declares it cannot do."""


class MissingExtraError(ImportError):
    """An optional dependency is missing; the message names the extra to install."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra `{extra}`: pip install 'ssme[{extra}]'")
        self.extra = extra


class SsmeWarning(UserWarning):
    """Base of every warning this package gives."""


class UndefinedMetricWarning(SsmeWarning):
    """A metric is undefined on these rows (one class only, no rows) and is NaN."""


class ConvergenceWarning(SsmeWarning):
    """An iterative fit stopped before it converged."""


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else text + "."
