"""Ways the world can be, one a file. ``auto`` is their mixture, weighed by the labels.

`registry.REGIMES` lists them; `base` says what one is.
"""
