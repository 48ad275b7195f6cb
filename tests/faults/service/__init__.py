"""What happens around the service: disk, locks, clock, endpoints, platforms, memory."""
