"""The workshop: another process, without secrets and without network, in which shell and Python run in rooms."""
