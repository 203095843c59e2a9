"""Generative models of duels, one a file."""
