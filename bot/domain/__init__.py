"""Plain types of the service, such as addresses, messages, tasks, schedules and clocks. This package imports no other
part of `bot` except its texts.
"""
