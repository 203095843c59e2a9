"""Is there one ranking? Three models of a pair, and what is in no ranking."""
