"""What the agent needs from outside, as protocols. The bot's store and tasks implement them."""
