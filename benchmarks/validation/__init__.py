"""What the package promises, measured; ``make validate`` writes docs/validation/validation.md.

Each file ``benchmarks/validation/NAME.py`` holds one :class:`Experiment`, called ``EXPERIMENT``.
"""
