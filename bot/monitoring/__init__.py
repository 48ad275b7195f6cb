"""Monitoring of the service: heartbeat, dependencies, metrics and spans. They never contain contents or people."""
