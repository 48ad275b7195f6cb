"""The phones as a server of the Model Context Protocol, for clients such as Claude or Cursor."""
