"""What goes out: one actor per conversation, so that a chat that has to wait holds up no other."""
