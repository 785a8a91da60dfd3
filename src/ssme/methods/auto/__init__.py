"""The parts of ``method="auto"``.

`method` tells the whole story in six steps and is the file to read first. The letters mean the same
in all files:

==========  =======================================================================================
n, M, K     numbers of rows, classifiers and classes; r rows are some of the n, D is how many draws
q           the scores (n, M, K), clipped away from zero and renormalized
pi          the pool: one score (n, K) for every class, made of the scores of all classifiers
p           shares of the classes (K,) that the scores state; l = log(pi / p) is what they add
b           how much the pool is sharpened (b > 1) or flattened (b < 1) about p
W           the recalibrated pool, P(class | scores), an array (n, K); it is ``soft`` in the code
theta       the 1 + P coefficients of the model: log b, then the families a, t, c, v, r, s and d
regime      one way the world can be, with a pool, a prior and a probability of its own
world       one draw: W of one draw of the coefficients, and rows weighted as if sampled anew
==========  =======================================================================================

The files in the order in which a fit and its estimates use them:

==============  ===================================================================================
`constants`     every number that changes a result
`pool`          one score from many, its weights; whether the classifiers err independently
`prior`         what scores tell without labels, and how sharp the pool should be
`model`         the recalibration model; its best coefficients, given the labels
`regimes`       the ways the world can be
`mixture`       every regime fitted to the labels, and weighed by them
`sampler`       draws of the coefficients, of W, and of W with the rows weighted anew
`correction`    how often each label counts, what labels say beyond the model, draws moved onto the
                point estimate, labels of rows that ``ssme suggest`` chose
`belief`        the regimes together: estimates and draws of metrics of any group of rows
==============  ===================================================================================
"""
