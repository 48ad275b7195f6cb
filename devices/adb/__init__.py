"""Phones over ADB: the only place that knows adbutils."""
