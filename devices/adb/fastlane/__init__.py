"""The fast lane: reads elements and pictures and enters text through uiautomator2's server on the phone, instead of
slower shell commands.
"""
