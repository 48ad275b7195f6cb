-- Since when the key of a host is not let in, because two machines used it (Unix seconds). A new invitation ends it.
ALTER TABLE fleet_hosts ADD COLUMN blocked REAL;
