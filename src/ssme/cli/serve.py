"""``ssme serve``: a local page to label rows by hand and see the answer form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssme.cli.program import command
from ssme.errors import InputError

__all__ = ["serve"]

WHERE = "Where it listens"
LIMITS = "Limits"


@command("Evaluate")
def serve(
    file: Annotated[
        Path | None,
        typer.Argument(help="File of scores to open at once.", show_default=False),
    ] = None,
    project: Annotated[
        Path, typer.Option("--project", "-p", help="Folder that keeps labels and results.")
    ] = Path("ssme-project"),
    root: Annotated[
        Path | None, typer.Option("--root", help="Folder in which files may be opened by path.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in a browser.")
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Show everything and change nothing.")
    ] = False,
    batch: Annotated[
        int, typer.Option("--batch", help="Labels after which the estimates are made anew.")
    ] = 10,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen at.", rich_help_panel=WHERE)
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option("--port", help="Port to listen at (0: a free one).", rich_help_panel=WHERE),
    ] = 8477,
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            help="File whose first line is the password; needed where others can reach --host.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    upload_mb: Annotated[
        int, typer.Option("--upload-mb", help="Largest upload in MB.", rich_help_panel=LIMITS)
    ] = 200,
    job_seconds: Annotated[
        int,
        typer.Option("--job-seconds", help="Longest time a job may take.", rich_help_panel=LIMITS),
    ] = 600,
    job_mb: Annotated[
        int,
        typer.Option("--job-mb", help="Most memory a job may take, in MB.", rich_help_panel=LIMITS),
    ] = 8_000,
) -> None:
    """Open a page on this machine: scores in, a few labels by hand, an honest answer out.

    Example:

    [cyan]ssme serve scores.csv[/cyan]
    """
    from ssme.serve.server import run_server
    from ssme.serve.settings import ServeSettings

    if root is not None and not root.is_dir():
        raise InputError(f"--root {root} is not a folder", fix="name a folder that is there")
    settings = ServeSettings(
        project=project,
        root=root,
        host=host,
        port=port,
        password=None if password_file is None else _read_password(password_file),
        read_only=read_only,
        upload_mb=upload_mb,
        job_seconds=job_seconds,
        job_mb=job_mb,
        batch=batch,
    )
    run_server(settings, _say, file=file, open_browser=not no_browser)


def _say(line: str) -> None:
    print(line, flush=True)


def _read_password(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(
            f"--password-file {path} cannot be read: {error}", fix="name a file of text"
        ) from None
    password = lines[0].strip() if lines else ""
    if len(password) < 8:
        raise InputError(
            f"--password-file: the password in {path} has {len(password)} characters",
            allowed="8 or more in the first line",
            fix="write a longer one",
        )
    return password
