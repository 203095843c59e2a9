"""Reading of logs: files and frames, line by line and rule by rule."""
