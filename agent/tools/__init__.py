"""Tools that need no phone: the time, sums, small programs, texts, files, pages of the web, memory and a shell."""
