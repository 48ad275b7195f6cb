"""The interfaces of what the agent needs from outside, as protocols. The bot implements them."""
