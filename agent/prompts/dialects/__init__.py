"""The instructions of each dialect."""
