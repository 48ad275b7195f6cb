"""What tools without a phone are made with: a small Python without files or network, pages of the web, searches."""
