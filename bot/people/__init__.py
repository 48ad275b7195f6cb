"""People and what they may do: the rights that admins give while the service runs."""
