"""The record in a database of PostgreSQL, 15 or newer. Imported only where `DATABASE_URL` names one."""
