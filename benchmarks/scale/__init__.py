"""Scale: time and memory as duels, arms, judges, draws and workers grow; tables of docs/scale.md."""
