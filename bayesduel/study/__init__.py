"""Live studies: ask for the next pair, tell the outcome, stop when there is enough."""
