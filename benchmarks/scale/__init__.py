"""Scale: time and memory as a log or a run grows; tables of docs/validation/scale.md."""
