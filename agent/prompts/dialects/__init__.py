"""The instructions of each dialect, as prompt files."""
