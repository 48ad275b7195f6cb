"""Settings that admins change while the service runs, and what runs are given because of them."""
