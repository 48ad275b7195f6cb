"""Compares models: each gets the same tasks on virtual phones, and the state of the phones afterwards is judged."""
