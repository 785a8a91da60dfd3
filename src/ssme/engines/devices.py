"""Which device torch works on, with a clear answer where it cannot."""

from __future__ import annotations

from typing import Any

from ssme.errors import InputError, MissingExtraError

__all__ = ["choose_torch_device", "import_torch"]


def import_torch(what: str) -> Any:
    """The torch module, or `MissingExtraError` naming the extra that ``what`` needs."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(what, "flow") from error
    return torch


def choose_torch_device(name: str | None, what: str) -> Any:
    """The torch device ``name`` ("cpu", "cuda", "cuda:1"); None: a GPU where there is one."""
    torch = import_torch(what)
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f"unknown device {name!r}", allowed="cpu, cuda, cuda:0, ...") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"device={name!r}, and torch {torch.__version__} sees no NVIDIA GPU",
            allowed="cpu on this machine",
            fix="leave device out, or run where `torch.cuda.is_available()` is true",
        )
    return device
