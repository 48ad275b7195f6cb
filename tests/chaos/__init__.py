"""The service is killed at random points, again and again; nothing may be lost or done twice."""
