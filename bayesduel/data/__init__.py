"""Logs of duels, pulls and items: their parts, how they are read, and their health."""
