"""Random input for everything that reads what others write: briefly in the tests, at length by `make fuzz`."""
