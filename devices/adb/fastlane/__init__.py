"""The fast lane: elements and text through the small server that uiautomator2 runs on a phone, instead of commands."""
