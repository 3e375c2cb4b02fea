"""What processes run that play worlds outside JAX: NumPy only, and nothing of merlax, whose import would load JAX."""
