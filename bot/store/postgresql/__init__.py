"""The store in a PostgreSQL database, version 15 or newer. Imported only if `DATABASE_URL` is set."""
