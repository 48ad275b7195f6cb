"""`python -m benchmarks.androidworld.run`: AndroidWorld's tasks on its emulator, done by a running service.

Needs AndroidWorld's package beside this repository; README.md says how.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks.androidworld.agent import OpenGuiAgent, Service
from benchmarks.androidworld.report import report


def main() -> None:
    """Run the suite, and print the report."""
    # AndroidWorld is in no package index: only who runs this has it.
    from android_world import checkpointer, registry, suite_utils  # type: ignore[import-not-found]  # noqa: PLC0415
    from android_world.agents import base_agent  # type: ignore[import-not-found]  # noqa: PLC0415
    from android_world.env import env_launcher, json_action  # type: ignore[import-not-found]  # noqa: PLC0415

    options = _options()
    env = env_launcher.load_and_setup_env(
        console_port=options.console_port, emulator_setup=options.setup, adb_path=options.adb
    )

    class Agent(OpenGuiAgent, base_agent.EnvironmentInteractingAgent):  # type: ignore[misc]
        """Of both kinds: AndroidWorld asks for its own."""

    def answered(text: str) -> object:
        return json_action.JSONAction(action_type=json_action.ANSWER, text=text)

    service = Service(options.url, os.environ["OPENGUI_TOKEN"], options.phone or f"emulator-{options.console_port}")
    agent = Agent(env, service, answered, base_agent.AgentInteractionResult)
    suite = suite_utils.create_suite(
        registry.TaskRegistry().get_registry(family="android_world"),
        n_task_combinations=options.combinations,
        seed=options.seed,
        tasks=options.tasks or None,
    )
    suite.suite_family = "android_world"
    directory = checkpointer.create_run_directory(str(options.output))
    episodes = suite_utils.run(suite, agent, checkpointer=checkpointer.IncrementalCheckpointer(directory))
    print(report(episodes))
    env.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:8765", help="of the running service")
    parser.add_argument("--phone", default="", help="by name or id; the emulator's serial unless said otherwise")
    parser.add_argument("--console-port", type=int, default=5554)
    parser.add_argument("--adb", default="adb")
    parser.add_argument("--setup", action="store_true", help="install AndroidWorld's apps first: once for an emulator")
    parser.add_argument("--tasks", nargs="*", help="names of tasks; all unless said otherwise")
    parser.add_argument("--combinations", type=int, default=1)
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("--output", type=Path, default=Path("androidworld-runs"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
