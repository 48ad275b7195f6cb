from __future__ import annotations

import asyncio
import hashlib
import os
import struct
from pathlib import Path

import adbutils

from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.phone import VirtualPhone
from tests.fixtures.adb import AdbServer


async def test_shell_gives_output_errors_and_exit_codes(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        code, out, err = await adb_server.run("-s", phone.address, "shell", "echo hello; nothing-here")
        assert (code, out) == (127, b"hello\n")
        assert err == b"/system/bin/sh: nothing-here: inaccessible or not found\n"
        code, out, _err = await adb_server.run("-s", phone.address, "shell", "exit 7")
        assert (code, out) == (7, b"")
        assert [entry.code for entry in phone.journal.entries] == [0, 127, 7]
        await adb_server.disconnect(phone.address)


async def test_raw_frame_comes_through_exec_out(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        code, out, _err = await adb_server.run("-s", phone.address, "exec-out", "screencap")
        assert code == 0
        assert struct.unpack_from("<4I", out) == (1080, 2400, 1, 1)
        assert len(out) == 16 + 1080 * 2400 * 4
        await adb_server.disconnect(phone.address)


async def test_files_go_there_and_back_unchanged(adb_server: AdbServer, tmp_path: Path) -> None:
    content = os.urandom(1_000_003)
    (tmp_path / "there").write_bytes(content)
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        target = "/sdcard/Download/文件 1.bin"
        code, _out, err = await adb_server.run("-s", phone.address, "push", str(tmp_path / "there"), target)
        assert code == 0, err
        code, _out, err = await adb_server.run("-s", phone.address, "pull", target, str(tmp_path / "back"))
        assert code == 0, err
        assert hashlib.sha256((tmp_path / "back").read_bytes()).digest() == hashlib.sha256(content).digest()
        code, _out, err = await adb_server.run("-s", phone.address, "push", str(tmp_path / "there"), "/system/x")
        assert code != 0
        assert b"Permission denied" in err
        code, _out, err = await adb_server.run("-s", phone.address, "pull", "/sdcard/none", str(tmp_path / "none"))
        assert code != 0
        await adb_server.disconnect(phone.address)


async def test_adbutils_lists_folders_and_runs_commands(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        phone.files.write("/sdcard/Download/a.txt", b"abc")

        def use() -> tuple[str, int, list[tuple[str, int]]]:
            device = adbutils.AdbClient(adb_server.host, adb_server.port).device(phone.address)
            answer = device.shell2("id", v2=True)
            return answer.output, answer.returncode, [(f.path, f.size) for f in device.sync.list("/sdcard/Download")]

        output, code, listed = await asyncio.to_thread(use)
        assert output.startswith("uid=2000(shell)")
        assert code == 0
        assert listed == [("a.txt", 3)]
        await adb_server.disconnect(phone.address)


async def test_a_phone_is_unauthorized_until_somebody_presses_allow(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await phone.set_link(LinkState.UNAUTHORIZED)
        await adb_server.connect(phone.address, state="unauthorized")
        await phone.set_link(LinkState.OPEN)
        await adb_server.wait_for(phone.address, "device")
        await adb_server.disconnect(phone.address)


async def test_a_silent_phone_is_offline_and_a_pulled_cable_is_seen(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        await phone.set_link(LinkState.OFFLINE)
        await adb_server.wait_for(phone.address, "offline")
        await adb_server.disconnect(phone.address)
        await phone.set_link(LinkState.OPEN)
        await adb_server.connect(phone.address)
        await adb_server.disconnect(phone.address)
