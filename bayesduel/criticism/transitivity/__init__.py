"""The predictive check of scores that :func:`bayesduel.check` uses."""
