"""The steps that install the program as a system service; each can be described, inspected, carried out and undone."""
