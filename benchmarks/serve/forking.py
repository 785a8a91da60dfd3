"""Servers that start at once: a process that has imported everything forks one for each line.

Run: python -m benchmarks.serve.forking PROJECT; each line on stdin starts a server, whose process
id and port are written to stdout. The queue does not run in it: what is killed here is the way of a
label from the network to the disk.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import uvicorn

from ssme.serve.app import make_app
from ssme.serve.server import bind
from ssme.serve.settings import ServeSettings
from ssme.serve.store import DbThread


def serve(settings: ServeSettings) -> None:
    listener = bind(settings)
    with DbThread(settings) as db:
        app = make_app(db, work=False)
        sys.stdout.write(f"{os.getpid()} {listener.getsockname()[1]}\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_level="error")  # type: ignore[arg-type]
        uvicorn.Server(config).run([listener])


def main() -> None:
    settings = ServeSettings(Path(sys.argv[1]), port=0, batch=1000)
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            serve(settings)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
