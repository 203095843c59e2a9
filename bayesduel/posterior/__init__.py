"""Summaries of a posterior: winners, top-k sets, predictions, coefficients, information gain."""
