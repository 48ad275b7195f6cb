"""What people and programs can do with the service, the same for every surface: typed calls, with access inside."""
