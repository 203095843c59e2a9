"""Live studies: ask for the next pair, tell the outcome."""
