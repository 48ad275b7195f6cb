"""The service at work for long: what it needs of the machine must not grow."""
