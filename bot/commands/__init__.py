"""What people can ask for, the same on every surface. `bot.commands.dispatcher.Commands` is the way in."""
