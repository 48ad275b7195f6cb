"""Which model fits: the same tasks by several models on virtual phones, judged by what the phones have recorded."""
