"""A phone is made ready for a run: prepared, and what came with the task put on it."""

from __future__ import annotations

from agent.control import Stopped
from agent.files import FileLost, GivenFile
from agent.ports.frames import Frames
from agent.runs.active import ActiveRun
from devices.errors import PhoneGone
from devices.phone import Phone, Phones


async def prepared(
    run: ActiveRun, phone: Phone, files: tuple[GivenFile, ...], frames: Frames, phones: Phones, grace: float
) -> None:
    """Prepare the phone and put the files on it. A pause cuts that off, and a resume begins anew; so does a cable that
    is back within `grace` seconds.

    Raises Stopped, FileLost, FileRejected when the phone does not take a file, and other PhoneErrors.
    """
    lost = False
    while True:
        await run.control.hold()
        run.acting = True
        try:
            if lost:
                await run.control.guard(phones.wait_for(phone.info.id, timeout=grace))
            await run.control.guard(phone.prepare())
            for file in files[len(run.files) :]:
                run.files.append(await run.control.guard(_put(run, phone, file, frames)))
        except Stopped:
            if not run.control.paused:
                raise
        except PhoneGone:
            if lost:
                raise
            lost = True
        else:
            return
        finally:
            run.acting = False
            run.control.stood()


async def _put(run: ActiveRun, phone: Phone, file: GivenFile, frames: Frames) -> str:
    """The file's path on the phone. Each run has a folder: doing it again, after a crash too, changes nothing."""
    try:
        data = await frames.load(file.content)
    except KeyError:
        raise FileLost(file.name) from None
    return await phone.push(file.name, data, folder=run.id)
