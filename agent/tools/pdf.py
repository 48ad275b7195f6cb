"""Extracts the text of a PDF in a separate process with limits, so that a hostile file can only crash that process."""

from __future__ import annotations

import asyncio
import sys
from typing import Final

MOST_PAGES: Final = 60
MOST_LETTERS: Final = 300_000
MOST_SECONDS: Final = 10
MOST_MEMORY: Final = 600_000_000
"""Bytes of address space; the interpreter with pypdf takes 150 MB of it."""


class PdfUnread(Exception):
    """The PDF could not be read; the message tells the model why."""


async def pdf_text(data: bytes) -> str:
    """Return the text of the first pages of a PDF. Raises PdfUnread."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        __name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONIOENCODING": "utf-8:replace"},
    )
    try:
        async with asyncio.timeout(MOST_SECONDS + 5):
            told, _ = await process.communicate(data)
    except TimeoutError as error:
        raise PdfUnread("The PDF takes too long to read.") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise PdfUnread("The PDF cannot be read: it is damaged, locked with a password, or too large.")
    text = told.decode("utf-8", "replace")[:MOST_LETTERS].strip()
    if not text:
        raise PdfUnread("The PDF has no words, only pictures.")
    return text


def main() -> None:
    """Read a PDF from standard input and write its text to standard output, within limits. This runs in the separate
    process.
    """
    import logging  # noqa: PLC0415 - this is another process
    import resource  # noqa: PLC0415 - the same

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from io import BytesIO  # noqa: PLC0415 - the same

    from pypdf import PdfReader  # noqa: PLC0415 - the same

    logging.disable()
    letters = 0
    reader = PdfReader(BytesIO(sys.stdin.buffer.read()))
    for page in reader.pages[:MOST_PAGES]:
        text = page.extract_text()[: MOST_LETTERS - letters]
        letters += len(text)
        sys.stdout.write(f"{text}\n\n")
        if letters >= MOST_LETTERS:
            break


if __name__ == "__main__":
    main()
