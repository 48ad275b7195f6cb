"""Measures the targets for speed and cost on the virtual phone: `make bench`."""
