"""The virtual phone: a device-side ADB daemon with a small Android behind it."""
