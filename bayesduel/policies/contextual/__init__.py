"""Policies for items with attributes, shown one or two at a time."""
