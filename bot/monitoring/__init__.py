"""How the service is watched: heartbeat, dependencies, metrics, spans. Nothing of contents or people."""
