"""The commands that people can give, the same in every chat. `bot.commands.dispatcher.Commands` is the entry point."""
