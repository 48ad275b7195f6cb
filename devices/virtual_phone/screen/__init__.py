"""What screens are made of: nodes, widgets, entry fields, bars and keyboard, and how they are drawn."""
