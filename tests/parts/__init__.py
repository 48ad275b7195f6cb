"""The program without one of its parts: `python -m tests.parts PACKAGE` runs all fast tests that are not the part's own."""
