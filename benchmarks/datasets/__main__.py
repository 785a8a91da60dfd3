"""List the data sets of the benchmarks, or download one of the paper's own.

python -m benchmarks.datasets
SSME_DATA=~/ssme-data python -m benchmarks.datasets --fetch civilcomments
"""

from __future__ import annotations

import argparse

from benchmarks.datasets.fetch import fetch_dataset
from benchmarks.datasets.registry import DATASETS, data_folder


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fetch", metavar="NAME", help="download it into the folder SSME_DATA")
    fetch = parser.parse_args().fetch
    if fetch is not None:
        print(f"Wrote {fetch_dataset(fetch)}")
        return
    for name, entry in DATASETS.items():
        found = entry.kind == "file" and (data_folder() / f"{name}.npz").exists()
        state = {"own": "your own file", "made": "synthetic"}.get(entry.kind) or (
            f"in {data_folder()}" if found else "not downloaded"
        )
        print(f"{name} ({state}): {entry.title}")
        print(f"    {entry.source}. Licence: {entry.licence}.")
        print(f"    Get it: {entry.obtain.replace('NAME', name)}.")


if __name__ == "__main__":
    main()
