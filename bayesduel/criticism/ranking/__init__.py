"""Is there one ranking? Five models of a pair, and what is in no ranking."""
