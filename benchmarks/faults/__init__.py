"""Faults: bad inputs to every command, and kills at random moments; writes docs/faults.md."""
