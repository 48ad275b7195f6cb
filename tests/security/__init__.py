"""What people, pages, apps and endpoints that mean harm can try: docs/security.md names the test of each defence."""
