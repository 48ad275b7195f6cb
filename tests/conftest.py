from __future__ import annotations

from hypothesis import settings

from bot.memory import keep_small

pytest_plugins = ["tests.fixtures.adb"]

settings.register_profile("on a busy machine", deadline=None)
settings.load_profile("on a busy machine")

keep_small()  # as the service does; with a heap for each thread a worker grows to gigabytes
