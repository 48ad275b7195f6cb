"""The building blocks of screens: nodes, widgets, text fields, system bars and keyboard, and how they are drawn."""
