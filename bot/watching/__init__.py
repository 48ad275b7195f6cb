"""How the service is watched: what it tells its manager, its logs and its numbers. Nothing of contents or people."""
