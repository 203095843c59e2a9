"""Policies for items with attributes."""
