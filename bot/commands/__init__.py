"""What people can type, the same on every surface."""
