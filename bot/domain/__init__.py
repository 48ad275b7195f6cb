"""Plain types of the service: addresses, messages, tasks, schedules, tiers, clocks. They import nothing else of bot
but its texts.
"""
