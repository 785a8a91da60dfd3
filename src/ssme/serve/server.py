"""Start the server: bind, say where it is and what it exposes, open the browser."""

from __future__ import annotations

import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ssme.errors import InputError, MissingExtraError
from ssme.serve import jobs, store
from ssme.serve.settings import ServeSettings, is_loopback

BACKLOG = 256
"""Connections that wait while the server starts or is busy."""
ENTRANCE = "enter.html"
"""File of the project that the browser is started with."""


def run_server(
    settings: ServeSettings, say: Callable[[str], None], *, file: Path | None = None
) -> None:
    """Serve the project until it is interrupted.

    ``say`` gets each line for the person who started it; ``file`` is opened at once.
    """
    os.umask(0o077)  # nobody else reads what the server or a job writes
    # uvicorn raises the signal once more when it has stopped: databases and sockets are closed then
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with bind(settings) as listener:
        jobs.start_fork_server()  # it imports while this process does
        try:
            import uvicorn

            from ssme.serve.app import make_app
            from ssme.serve.auth import make_secret
            from ssme.serve.files import check_file
        except ImportError:
            raise MissingExtraError("ssme serve", "web") from None
        if file is not None:
            check_file(file)
        exposed = settings.make_folders()
        port = listener.getsockname()[1]
        shown = settings.host if is_loopback(settings.host) else "127.0.0.1"
        token = make_secret()
        with store.DbThread(settings) as db:
            db.run_now(store.Store.renew_owner_token, token)
            app: Any = make_app(db)
            scheme = "http" if settings.certificate is None else "https"
            address = (
                f"{scheme}://{f'[{shown}]' if ':' in shown else shown}:{port}/enter?token={token}"
            )
            for line in (*describe_exposure(settings, port), *exposed):
                say(line)
            say(f"Labels, settings and results are kept in {settings.project.resolve()}")
            say(f"Open {address}")
            say("The token in this address works once. Ctrl-C stops the server.")
            _make_server(uvicorn, app, file, address).run([listener])


def write_entrance(folder: Path, address: str) -> Path:
    """A file that leads a browser to the address, whose token everybody could see in `ps`."""
    path = folder.resolve() / ENTRANCE
    path.unlink(missing_ok=True)
    page = (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>ssme</title>'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        f'<p><a href="{address}">Go to the page</a></p></html>\n'
    )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(page)
    return path


def _make_server(uvicorn: Any, app: Any, file: Path | None, address: str) -> Any:
    """A uvicorn server that opens file and browser once it listens, and ends events first."""
    from ssme.serve.connections import configure

    project = app.app.state.project

    class Server(uvicorn.Server):  # type: ignore[misc]
        async def startup(self, sockets: Any = None) -> None:
            if file is not None:  # whoever comes at once is led to it: until then they wait
                project.opened = await project.add_file(file.resolve())
            await super().startup(sockets)
            if not project.settings.no_browser:
                webbrowser.open(write_entrance(project.settings.project, address).as_uri())

        async def shutdown(self, sockets: Any = None) -> None:
            (project.settings.project / ENTRANCE).unlink(missing_ok=True)
            project.runner.end_streams()
            await super().shutdown(sockets)

    return Server(configure(app, project.settings))


def bind(settings: ServeSettings) -> socket.socket:
    """A socket that listens; an error says who else might."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    both = settings.host == "::" and socket.has_dualstack_ipv6()
    at = (settings.host, settings.port)
    try:
        return socket.create_server(at, family=family, backlog=BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        said = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(
            f"cannot listen at {settings.host}, port {settings.port}: {said}",
            hint="stop the other program, or give another --port (0 takes a free one)",
        ) from None


def describe_exposure(settings: ServeSettings, port: int) -> list[str]:
    """What others can reach, in sentences; nothing where only this machine can."""
    if is_loopback(settings.host):
        return []
    reads = "the files given through the page"
    if settings.root is not None:
        reads += f" and every file of scores and every picture in {settings.root.resolve()}"
    changes = "" if settings.read_only else ", label rows and start evaluations"
    exposed = [
        f"Everybody who can reach this machine at port {port} and knows the password can see "
        f"{reads}{changes}."
    ]
    if settings.certificate is None:
        exposed.append(
            "The connection is not encrypted: in a network that you do not trust, give a "
            "--certificate, or use an SSH tunnel and --host 127.0.0.1."
        )
    return exposed
