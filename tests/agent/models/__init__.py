"""Tests of the model client, over real HTTP."""
