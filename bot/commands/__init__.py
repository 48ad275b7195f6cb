"""What people can ask for, the same on every surface. `bot.commands.intake.Commands` is the way in."""
