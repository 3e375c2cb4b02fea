"""Experiments: what the paper compares, as data; running it, collecting it, measuring it."""
