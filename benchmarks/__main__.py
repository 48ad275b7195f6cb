"""`make bench`: prints the targets beside what was measured. Exit code 1 when one is missed."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from benchmarks import (
    api,
    fleet,
    fleet_hosts,
    foreign,
    members,
    record,
    scale,
    settling,
    single,
    skills,
    stopping,
    tools,
    whole,
    workshop,
)
from benchmarks.row import HEADING, Row

Options = argparse.Namespace


def _whole(options: Options) -> AsyncIterator[Row]:
    return whole.measured(options.runs, options.whole_seconds)


async def _single(options: Options) -> list[Row]:
    return await single.measured(options.runs, options.model_seconds)


def _foreign(options: Options) -> AsyncIterator[Row]:
    return foreign.measured(options.runs, options.model_seconds, options.line)


async def _scale(options: Options) -> list[Row]:
    print(scale.HEADING)
    points = []
    for count in options.phones:
        points.append(await scale.point(count))
        print(points[-1], flush=True)
    print(
        f"Tasks of 20 steps, one on each phone at once, the model {scale.MODEL_S:g} s: a step's own time (median), and"
        " of each step the processor time of the service, of the adb server and of the virtual phones.\n"
    )
    return scale.rows(points, await scale.idle_share())


async def _settle(options: Options) -> list[Row]:
    return await settling.measured(options.runs)


async def _stop(options: Options) -> list[Row]:
    return await stopping.measured(options.runs)


async def _api(options: Options) -> list[Row]:
    return await api.measured(options.runs)


async def _tools(options: Options) -> list[Row]:
    return await tools.measured(options.runs)


async def _workshop(options: Options) -> list[Row]:
    return await workshop.measured(options.runs)


async def _members(options: Options) -> list[Row]:
    return await members.measured(options.runs)


async def _skills(_options: Options) -> list[Row]:
    return await skills.measured()


async def _record(options: Options) -> list[Row]:
    return await record.measured(options.runs)


async def _fleet(options: Options) -> list[Row]:
    return [*await fleet.measured(options.runs_at_once), *await fleet_hosts.measured(options.runs)]


PARTS: Mapping[str, Callable[[Options], Awaitable[list[Row]] | AsyncIterator[Row]]] = {
    "whole": _whole,
    "single": _single,
    "foreign": _foreign,
    "settle": _settle,
    "stop": _stop,
    "api": _api,
    "tools": _tools,
    "workshop": _workshop,
    "members": _members,
    "skills": _skills,
    "record": _record,
    "fleet": _fleet,
    "scale": _scale,
}


async def main(options: Options) -> int:
    """Measure and print, each row as soon as it is known and all together at the end; the exit code."""
    rows: list[Row] = []
    for name, part in PARTS.items():
        if options.only in {"", name}:
            async for row in _each(part(options)):
                print(row, flush=True)
                rows.append(row)
    print("", HEADING, *rows, f"\nLoad of the machine {os.getloadavg()[0]:.1f}.", sep="\n")
    return 0 if all(row.met for row in rows) else 1


async def _each(part: Awaitable[list[Row]] | AsyncIterator[Row]) -> AsyncIterator[Row]:
    """The rows of a part, which gives them as they come or all at its end."""
    if isinstance(part, AsyncIterator):
        async for row in part:
            yield row
    else:
        for row in await part:
            yield row


def _seconds(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in text.split(","))


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", choices=("", *PARTS), default="", help="one part of it")
    parser.add_argument("--line", default="", help="of foreign only the lines with this in their name, such as tools")
    parser.add_argument("--runs", type=int, default=3, help="tasks whose figures are put together")
    parser.add_argument("--model-seconds", type=float, default=1.0, help="how long the model takes for an answer")
    parser.add_argument("--whole-seconds", type=_seconds, default=(0.5, 2.0, 6.0), help="the model's, for whole tasks")
    parser.add_argument("--phones", type=_sizes, default=scale.SIZES, help="sizes for scale, such as 1,4")
    parser.add_argument("--runs-at-once", type=_sizes, default=fleet.SIZES, help="sizes for fleet, such as 128,2000")
    sys.exit(asyncio.run(main(parser.parse_args())))
