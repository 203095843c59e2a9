"""What several test files share: simulated logs, broken files, parsers of pages."""
