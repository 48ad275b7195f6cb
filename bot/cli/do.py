"""The `opengui do` command: runs one task, prints its steps, and exits with a code for its outcome."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from agent.events import Source, TaskEnded
from agent.members.loading import EXECUTOR
from agent.run import Outcome
from agent.task_results import JsonSchema
from bot.cards.formatting import source_lines
from bot.cli.control import service_of, service_or_own
from bot.cli.exits import OF_OUTCOME, OK, UNAVAILABLE, Refused, ServiceGone
from bot.cli.questions import Give, Prompt, read_input, somebody_is_there
from bot.cli.remote import Remote
from bot.cli.terminal import STYLE_OF, Style, Styled, complain, print_styled
from bot.config.settings import Settings
from bot.domain.incoming import Attachment
from bot.domain.task_request import TaskDraft, TaskOptions
from bot.tasks.files import BadFiles, check
from bot.texts import say

if TYPE_CHECKING:
    from bot.cli.local import Local

GOING_ON: Final = frozenset({"resumed", "step", "run ended", "part end", "final"})
"""Events after which the run that sent them is no longer waiting for an answer."""


async def do(options: argparse.Namespace, settings: Settings) -> int:
    """Hand the task to the running service, or run it in this process. Returns the exit code. Raises ServiceGone,
    SettingsError and StoreError.
    """
    text = options.task.strip()
    if not text:
        return complain(say("cli.do.empty", example=say("cli.do.example")), f"opengui {options.command}")
    how = TaskOptions(**{name: getattr(options, name) for name in TaskOptions.model_fields})
    try:
        schema = None if options.schema is None else await asyncio.to_thread(_schema, options.schema)
    except OSError as error:
        return complain(say("cli.do.unread", file=error.filename, reason=error.strerror), f"opengui {options.command}")
    except ValueError as error:
        problem = (
            error.errors()[0]["msg"].removeprefix("Value error, ") if isinstance(error, ValidationError) else error
        )
        return complain(say("cli.do.no_schema", file=options.schema, problem=problem), f"opengui {options.command}")
    return await start_task(TaskDraft(text, options.device, how, result_schema=schema), options, settings)


def _schema(path: Path) -> JsonSchema:
    """Read a JSON Schema from a file. Raises OSError, and ValueError if it cannot be used."""
    try:
        return JsonSchema(document=json.loads(path.read_bytes()))
    except RecursionError:
        raise ValueError(say("cli.do.too_deep")) from None


async def start_task(draft: TaskDraft, options: argparse.Namespace, settings: Settings) -> int:
    """Start a drafted task, in the running service or in this process, with the options' answers and files."""
    options.began = time.monotonic()
    try:
        files = await asyncio.to_thread(_read, options.file)
        answers = [*options.answer, *await asyncio.to_thread(_answers, options.answer_file)]
    except OSError as error:
        return complain(say("cli.do.unread", file=error.filename, reason=error.strerror), f"opengui {options.command}")
    except UnicodeDecodeError:
        return complain(say("cli.do.no_text"), f"opengui {options.command}")
    except BadFiles as error:
        return complain(str(error), f"opengui {options.command}")
    async with service_of(settings) if options.detach else service_or_own(settings) as door:
        return await _follow(door, draft, options, files, answers)


def _read(paths: Sequence[Path]) -> tuple[Attachment, ...]:
    """Read the files after checking their sizes. Raises BadFiles and OSError."""
    check([(path.name, path.stat().st_size) for path in paths])
    return tuple(Attachment(path.name, path.read_bytes()) for path in paths)


def _answers(paths: Sequence[str]) -> list[str]:
    """Read the non-empty lines of these files ("-" is standard input). Raises OSError and UnicodeDecodeError."""
    lines = [line.removesuffix("\r") for path in paths for line in read_input(path).split("\n")]
    return [line for line in lines if line]


async def _follow(
    service: Local | Remote,
    draft: TaskDraft,
    options: argparse.Namespace,
    files: tuple[Attachment, ...],
    given: Sequence[str],
) -> int:
    """Start the task and print its events. Ctrl-C and SIGTERM cancel it."""
    answers = iter(given)
    prompt: Prompt | None = None
    cancelling: list[asyncio.Task[None]] = []

    async def cancel() -> None:
        with suppress(Refused, ServiceGone):  # it has ended in the meantime
            await service.cancel(task)

    def interrupted() -> None:
        cancelling.append(asyncio.create_task(cancel()))

    try:
        task = await service.start(draft, files)
        if not options.detach:
            for each in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(each, interrupted)
        _show({"type": "task", "task": task}, options)
        if options.detach:
            return OK
        if not options.json and somebody_is_there():
            prompt = Prompt(partial(service.answer, task))
        async for line in service.events(task):
            if prompt is not None and line["type"] in GOING_ON:
                await prompt.drop(line.get("part", ""))
            if line["type"] == "question":
                await _ask(partial(service.answer, task), line, answers, prompt, options)
                continue
            _show(line, options)
            if line["type"] == "final":
                return OF_OUTCOME[Outcome(line["outcome"])]
            if prompt is not None:
                prompt.redisplay()
    except Refused as refusal:
        return await _refused(service, options, str(refusal))
    finally:
        if prompt is not None:
            await prompt.close()
    return complain(say("cli.do.stopping"), f"opengui {options.command}", UNAVAILABLE)


async def _refused(service: Local | Remote, options: argparse.Namespace, why: str) -> int:
    """Report the refusal as wrong usage, or as a blocked task if the only problem is that no phone can be used."""
    wished = {name.strip().casefold() for name in options.device.split(",")} if options.device else set()
    keys = ("id", "serial", "name")
    named = [row for row in await service.phones() if not wished or wished & {str(row[key]).casefold() for key in keys}]
    if any(row["usable"] for row in named) or (options.device and not named):
        return complain(why, f"opengui {options.command}")
    # Imported here because it loads the task service and the agent, which only a refusal needs.
    from bot.tasks.follow import PartEvent, line_of  # noqa: PLC0415 - see above

    _show(line_of(PartEvent(TaskEnded(outcome=Outcome.BLOCKED, summary=why))), options)
    return OF_OUTCOME[Outcome.BLOCKED]


def _show(line: dict[str, Any], options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(line, ensure_ascii=False), flush=True)
        return
    words: str | Styled = _words(line)
    if line["type"] == "question":
        words = Styled(_words(line), Style.ASKS)
    elif line["type"] in {"final", "part end"}:
        words = Styled(_words(line), STYLE_OF[Outcome(line["outcome"])])
    if sys.stdout.isatty():
        minutes, seconds = divmod(int(time.monotonic() - options.began), 60)
        print_styled(Styled(f"{minutes:>2}:{seconds:02}", Style.DIM), " ", words)
    else:
        print_styled(words)


async def _ask(
    give_answer: Give,
    question: dict[str, Any],
    answers: Iterator[str],
    prompt: Prompt | None,
    options: argparse.Namespace,
) -> None:
    """Use the next answer, or else ask at the terminal. Without either, the task ends as blocked."""
    answer = next(answers, None)
    if answer is None and prompt is not None:
        # The prompt shows the choices, numbered.
        _show(question | {"choices": ()}, options)
        prompt.ask(question)
        return
    _show(question, options)
    if answer is None:
        complain(say("cli.do.unanswered"), f"opengui {options.command}")
    refusal = await give_answer(question["question"], answer)
    if refusal:
        complain(refusal, f"opengui {options.command}")
        await give_answer(question["question"], None)


def _words(line: dict[str, Any]) -> str:
    """Describe an event for a person; where several phones work, the line begins with its phone."""
    words = _plain(line)
    return f"{line['on']}: {words.strip()}" if "on" in line else words


def _plain(line: dict[str, Any]) -> str:
    match line["type"]:
        case "task":
            return say("cli.do.task", task=line["task"])
        case "step":
            done = say("page.replay.denied", what=line["summary"]) if line["denied"] else line["summary"]
            return f"{line['step']:>3}  {done}"
        case "question":
            choices = f" ({' / '.join(line['choices'])})" if line["choices"] else ""
            detail = f"\n    {line['detail']}" if line["detail"] else ""
            return f"  ? {line['text']}{choices}{detail}"
        case "waiting":
            return f"  … {say('cli.do.waiting', phone=line['phone'], place=line['place'])}"
        case "started":
            return f"  {say('cli.do.started', phone=line['phone_name'])}"
        case "final" | "part end":
            data = f"\n{line['data']}" if line["data"] else ""
            pages = source_lines([Source.model_validate(page) for page in line.get("sources", [])])
            ending = say(f"cli.do.outcome.{line['outcome']}", summary=line["summary"]) + data
            return f"{ending}\n{pages}" if pages else ending
        case "told" | "interrupted":
            return f"  {line['text']}"
        case "file":
            return f"  {say('cli.do.file', name=line['name'])}"
        case "planned":
            return "\n".join(map(_todo, line["todos"])) or line["plan"]
        case other:
            return f"  {other}"


def _todo(todo: dict[str, Any]) -> str:
    """An item of the plan, with the team member who has it unless that is the executor."""
    who = "" if todo["member"] == EXECUTOR else f"{todo['member']}: "
    state = say(f"cli.do.todo.{todo['state'].replace(' ', '_')}")
    return f"  - {who}{todo['title']} ({state})"
