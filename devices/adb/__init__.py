"""Controls real phones over ADB (Android Debug Bridge). This is the only package that uses adbutils."""
