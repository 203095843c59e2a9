"""Logs of duels, pulls and items: what they hold, how they are read, and their health."""
