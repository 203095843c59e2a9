"""How posteriors are computed: Laplace with a certificate, pair by pair, or NUTS.

``derivatives`` compiles what Newton's method needs from a ``pm.Model`` of scores, ``dense`` from
one of attributes; ``hyper`` integrates over a learned scale on its own grid; ``laplace`` and
``pairwise`` are the two kinds of conditional posterior on that grid; ``importance`` corrects and
certifies the draws; ``nuts`` samples with nutpie; ``clusters`` and ``sandwich`` give standard
errors that survive repeated votes.
"""
