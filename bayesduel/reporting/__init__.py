"""Reports: sections of text, tables and figures, and one renderer."""
