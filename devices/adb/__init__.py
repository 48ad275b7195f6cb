"""Phones over ADB. This is the only package that uses adbutils."""
