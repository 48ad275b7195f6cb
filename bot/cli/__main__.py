"""Runs the `opengui` command line for `python -m bot.cli`."""

import sys

from bot.cli.main import main

sys.exit(main())
