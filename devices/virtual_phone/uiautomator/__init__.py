"""The server that uiautomator2 starts on a phone, played by the virtual phone."""
