"""A real model behind a real server: llama.cpp's, with a Gemma of 270 million parameters (`make test-llm`)."""
