"""The fast lane: elements and text through uiautomator2's small server on the phone, instead of shell commands."""
