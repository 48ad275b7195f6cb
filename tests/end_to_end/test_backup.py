"""`opengui backup` beside the running service, and `opengui restore` after it."""

from __future__ import annotations

from tests.end_to_end.service import Place


async def test_a_backup_of_a_running_service_is_restored_after_it_stopped(place: Place) -> None:
    async with place.service():
        code, out, err = await place.opengui("backup", "one.zip", "--frames")
        assert code == 0, err
        assert "one.zip: tasks and checkpoints" in out
        code, _, err = await place.opengui("restore", "one.zip")
        assert code == 69
        assert "in use by another process" in err
    code, out, err = await place.opengui("restore", "one.zip")
    assert code == 0, err
    assert "before-restore-" in out
    code, out, _ = await place.opengui("tasks")
    assert (code, out) == (0, "No tasks yet.\n")
