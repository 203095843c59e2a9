"""Tallies of margins by pair, and the moments of scores that follow from them, compiled.

Analysis and policies share them: the intransitivity index of a log, and the beliefs and the rules
of top-k selection.
"""
