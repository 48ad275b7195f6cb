"""Tools that need no phone: time, calculation, small programs, texts, files, web pages, memory and a shell."""
