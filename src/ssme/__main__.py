"""``python -m ssme``: the command line."""

from ssme.cli import main

main()
