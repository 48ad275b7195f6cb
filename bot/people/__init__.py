"""People and their rights: access lists, rights that admins give, roles, quotas, pairing codes and access tokens."""
