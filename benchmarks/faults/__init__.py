"""Bad inputs to every command, and kills at random moments; writes docs/validation/faults.md."""
