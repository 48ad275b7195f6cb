"""Settings that admins change while the service runs, and the run configurations that follow from them."""
