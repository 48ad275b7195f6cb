"""Tests of the settings that change while the service runs."""
