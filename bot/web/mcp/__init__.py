"""The Model Context Protocol server for the phones, for clients such as Claude or Cursor."""
