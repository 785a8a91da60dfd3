"""The parts of ``method="auto"``; `method` is the file to read first.

==========  =======================================================================================
n, M, K     numbers of rows, classifiers and classes; r rows are some of the n, D is how many draws
q           the scores (n, M, K), clipped away from zero and renormalized
pi          the pool: one score (n, K) for every class, made of the scores of all classifiers
p           shares of the classes (K,) that the scores state; l = log(pi / p) is what they add
b           how much the pool is sharpened (b > 1) or flattened (b < 1) about p
W           the recalibrated pool, P(class | scores), an array (n, K); it is ``soft`` in the code
theta       the coefficients of the model: log b, then the families a, t, c, v, r, s and d
regime      one way the world can be, with a pool, a prior and a probability
world       one draw: W of one draw of the coefficients, and rows weighted as if sampled anew
==========  =======================================================================================

In the order in which a fit uses them: `constants`, `pool`, `model`, `regimes` (fitted by
`ssme.methods.regression`), `correction`, `belief`.
"""
