"""Compares models by giving each the same tasks on virtual phones and judging the state of the phones afterwards."""
