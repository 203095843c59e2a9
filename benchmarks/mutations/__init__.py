"""Mutations: how many small faults in the package its fast tests notice."""
