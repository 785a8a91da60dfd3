"""Regimes: ways the world can be, one per file. ``auto`` is their mixture, weighed by the labels.

    P(r | scores, labels)  proportional to  P(r) E_r Z_r S_r                    (`auto.mixture`)

`base` says what a regime is and what it can look at. `registry` lists all of them in the order in
which they are tried: `usual`, `distorted`, `shares`, `added` and `selected`. Each of these files
ends with its `Regime`, whose function ``look`` gives its pool, its prior and E_r, the evidence of
the scores alone (`evidence`). To add a regime, write such a file, enter it in `registry`, and give
it a prior probability in `RegimesConstants.prior`.
"""
