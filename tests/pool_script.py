"""Starts two worker processes that write their numbers into a folder and then work on and on."""

import os
import sys
import time
from pathlib import Path

from ssme.executors import map_in_order, open_executor


def work(folder: str) -> None:
    (Path(folder) / f"{os.getpid()}.pid").touch()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        sum(range(10_000))


if __name__ == "__main__":
    with open_executor("processes", workers=2) as executor:
        list(map_in_order(executor, work, [sys.argv[1]] * 40, ahead=40))
