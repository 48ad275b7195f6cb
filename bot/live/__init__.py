"""Settings that admins change while the service runs."""
