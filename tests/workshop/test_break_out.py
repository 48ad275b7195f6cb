"""Programs that try to get out of a room, or to take the machine down; every room here is a real one."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from agent.ports.workshop import Job, WorkFile
from bot.workshop.client import OwnWorkshop
from tests.workshop.conftest import confined, needs_rooms

pytestmark = pytest.mark.slow

SECRET = "SECRET_OF_THE_SERVICE=hunter2"


async def shell(workshop: OwnWorkshop, code: str) -> str:
    return (await workshop.run(Job("shell", code, seconds=20))).output


async def python(workshop: OwnWorkshop, code: str) -> str:
    return (await workshop.run(Job("python", code, seconds=20))).output


async def test_nothing_outside_is_reached(
    workshop: OwnWorkshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen failing with `--ro-bind / /`: the workshop's own look at its room already refuses to start."""
    monkeypatch.setenv(*SECRET.split("="))
    outside = tmp_path / "secret"
    outside.write_text("hunter2", encoding="utf-8")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.is_relative_to("/tmp/pytest-of-root") or folder.is_relative_to("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    tries = f"""
    cat {outside} /etc/shadow /root/.bashrc /proc/1/environ /proc/{os.getpid()}/environ /proc/*/environ
    cat ../../../../{outside} /proc/1/root{outside} /proc/self/cwd/../..{outside} | tr '\\0' '\\n'
    env; kill -9 {os.getpid()}; kill -0 {os.getpid()} && echo REACHED
    ls /home /root /var /work/.. /run; touch /usr/x /etc/x /job/x /x /dev/x && echo WRITTEN
    """
    told = await shell(workshop, tries)
    assert "hunter2" not in told
    assert "REACHED" not in told
    assert "WRITTEN" not in told
    memory = f"""
import os
for pid in [p for p in range(1, 400)] + [{os.getpid()}]:
    for name in ("mem", "maps"):
        try:
            open(f"/proc/{{pid}}/{{name}}", "rb").read(1)
            print("opened", pid, name) if pid == {os.getpid()} else None
        except OSError: pass
"""
    assert "opened" not in await python(workshop, memory)


async def test_no_network_is_reached(workshop: OwnWorkshop) -> None:
    """Seen failing without the filter (vsock, netlink), and without `--unshare-all`: the workshop's own look at its
    room already refuses to start.
    """
    abstract = f"\0opengui-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as named:
        named.bind(abstract)
        named.listen()
        port = server.getsockname()[1]
        tries = f"""
import socket
def reached(name, family, address):
    try:
        with socket.socket(family) as one:
            one.settimeout(1); one.connect(address)
        print("REACHED", name)
    except OSError as error:
        print(name, error.errno)
reached("loopback", socket.AF_INET, ("127.0.0.1", {port}))
reached("internet", socket.AF_INET, ("1.1.1.1", 53))
reached("abstract", socket.AF_UNIX, {abstract!r})
reached("workshop", socket.AF_UNIX, "/run/opengui-workshop/socket")
for family in (40, 16, 17, 38):
    try:
        socket.socket(family, socket.SOCK_DGRAM); print("REACHED family", family)
    except OSError as error:
        print(family, error.errno)
"""
        told = await python(workshop, tries)
    assert "REACHED" not in told
    assert "abstract 111" in told, told  # refused, as nobody listens there in a network of one's own
    assert "40 1\n16 1\n17 1\n38 1" in told


async def test_no_rights_are_gained(workshop: OwnWorkshop) -> None:
    """Seen failing without the filter (keys of the kernel) and without its look at `clone` (new namespaces)."""
    tries = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {"keyctl": 250, "bpf": 321, "memfd": 319, "io_uring": 425}.items():
    if libc.syscall(number, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != 1: print("DONE", name)
CLONE_NEWUSER = 0x10000000
if libc.unshare(CLONE_NEWUSER) == 0: print("DONE unshare")
if libc.syscall(56, CLONE_NEWUSER | 17, 0, 0, 0, 0) > 0: print("DONE clone")
if libc.syscall(435, 0, 0) >= 0 or ctypes.get_errno() != 38: print("DONE clone3")
for path in ("/work/sda", "/work/mem"):
    try: os.mknod(path, 0o060600, os.makedev(8, 0)); print("DONE", path)
    except OSError: pass
try: os.setuid(0); print("DONE setuid")
except OSError: pass
if libc.mount(b"none", b"/work", b"tmpfs", 0, 0) == 0: print("DONE mount")
"""
    if os.uname().machine == "x86_64":
        assert await python(workshop, tries) == ""
    climb = "cp /usr/bin/id . && chmod 4755 id && ./id -u; for i in su sudo passwd 'mount -t tmpfs x /work'; do "
    told = await shell(workshop, climb + "echo x | $i 2>/dev/null && echo DONE $i; done; id -u")
    assert told == "1000\n1000\n"


FORKS = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
MEMORY = """
import os, time
for _ in range(8): os.fork() if _ < 3 else None
kept = [bytearray(os.urandom(1024)) * 100_000 for _ in range(2)]
time.sleep(20)
"""
KEEPS = """
import ctypes, mmap, os, threading, time
def keep():
    kept = bytearray(os.urandom(1024)) * 120_000
    time.sleep(3)
    os._exit(0)
def zeros(size):
    file = os.open("/dev/zero", os.O_RDWR)
    return mmap.mmap(file, size)
def touched(kept, step=4096):
    for at in range(0, len(kept), step): kept[at] = 1
    return kept
"""
THREAD = """
def start():
    for _ in range(4):
        if os.fork() == 0: keep()
    time.sleep(5)
threading.Thread(target=start).start()
"""
THREAD_THAT_IS_OVER = """
def start():
    for _ in range(4):
        if os.fork() == 0: keep()
thread = threading.Thread(target=start); thread.start(); thread.join(); time.sleep(5)
"""
ORPHANS = """
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: keep()
        os._exit(0)
time.sleep(5)
"""
CHAIN_OF_THREADS = """
def start(depth):
    if os.fork() == 0:
        if depth: threading.Thread(target=start, args=(depth - 1,)).start()
        keep()
    time.sleep(5)
threading.Thread(target=start, args=(3,)).start()
"""
ZEROS = """
kept = touched(zeros(400_000_000))
time.sleep(5)
"""
ZEROS_OUT_OF_SIGHT = """
kept = [touched(zeros(40_000_000)) for _ in range(10)]
for one in kept: one.madvise(mmap.MADV_DONTNEED)
time.sleep(5)
"""
ZEROS_OF_WHICH_A_PAGE_IS_LEFT = """
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for _ in range(10):
    at = libc.mmap(None, ctypes.c_size_t(40_000_000), 3, 1, os.open("/dev/zero", os.O_RDWR), 0)
    ctypes.memset(at, 1, 40_000_000)
    libc.munmap(ctypes.c_void_p(at + 4096), ctypes.c_size_t(40_000_000 - 4096))
time.sleep(5)
"""
TABLES_OF_ADDRESSES = """
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
at, size = libc.mmap(None, ctypes.c_size_t(1 << 38), 1, 0x4022, -1, 0), 1 << 38
for offset in range(0, size, 1 << 21): ctypes.c_char.from_address(at + offset).value
time.sleep(5)
"""
KEEPERS = {
    "a thread's children": THREAD,
    "children of a thread that is over": THREAD_THAT_IS_OVER,
    "orphans": ORPHANS,
    "threads of children of threads": CHAIN_OF_THREADS,
    "zeros": ZEROS,
    "zeros out of sight": ZEROS_OUT_OF_SIGHT,
    "a page of zeros": ZEROS_OF_WHICH_A_PAGE_IS_LEFT,
    "tables": TABLES_OF_ADDRESSES,
}
ELSEWHERE = """
from multiprocessing import shared_memory
def tried(what):
    try: what(); print("KEPT")
    except OSError: print("not kept")
def written():
    with open("/tmp/x", "wb") as file:
        for _ in range(400): file.write(bytes(1_000_000)); file.flush()
tried(lambda: shared_memory.SharedMemory(create=True, size=400_000_000))
tried(lambda: os.memfd_create("x"))
tried(lambda: mmap.mmap(-1, 400_000_000))
tried(lambda: open("/dev/shm/x", "wb"))
tried(written)
"""
IN_COMMON = """
kept = bytearray(os.urandom(1024)) * 150_000
for _ in range(3):
    if os.fork() == 0: time.sleep(1); os._exit(0)
for _ in range(3): os.wait()
with open("x", "w+b") as file:
    file.truncate(15_000_000)
    shared = touched(mmap.mmap(file.fileno(), 0))
for _ in range(10):
    if os.fork() == 0: sum(shared[::4096]); time.sleep(1); os._exit(0)
for _ in range(10): os.wait()
print("well")
"""
DELETED = """
import os
kept = []
while True:
    file = open("x", "wb"); file.write(bytes(8_000_000)); file.flush(); kept.append(file); os.unlink("x")
"""
TOO_MUCH = {
    "fork bomb": (Job("python", FORKS, seconds=2), {"time", "processes", "memory"}),
    "memory of many": (Job("python", MEMORY, seconds=15), {"memory"}),
    "memory of one": (Job("python", "x = bytearray(10**9)"), {"exit"}),
    "endless": (Job("shell", "while :; do :; done", seconds=1), {"time"}),
    "deaf and endless": (Job("shell", "trap '' TERM INT; (sleep 60 &) ; sleep 60", seconds=1), {"time"}),
    "output": (Job("shell", "head -c 1000000000 /dev/zero"), {"output"}),
    "millions of files": (Job("python", "for i in range(10**7): open(f'f{i}', 'w')"), {"disk"}),
    "a large file": (Job("shell", "head -c 200000000 /dev/zero > big; ls -s big"), {"exit"}),
    "deleted files": (Job("python", DELETED), {"exit"}),
    "its own holder": (Job("shell", "kill -9 $PPID; kill -9 -1; sleep 5"), {"broken", "exit", "time"}),
}


async def test_what_takes_too_much_is_ended(by_hand: OwnWorkshop) -> None:
    """Seen failing: without leaving root the fork bomb took every process of this machine; without the watch memory of
    many runs on until its time is over.
    """
    for name, (job, endings) in TOO_MUCH.items():
        began = time.monotonic()
        result = await by_hand.run(job)
        assert result.ending in endings, (name, result)
        assert time.monotonic() - began < job.seconds + 8, name
        assert len(result.output) < 100_000, name
        after = await by_hand.run(Job("shell", "echo well"))
        assert after.output == "well\n", name
    left = await asyncio.to_thread(subprocess.run, ["pgrep", "-f", "/job/code"], capture_output=True, text=True)
    mine = [pid for pid in left.stdout.split() if _parent_chain_has(int(pid), by_hand.pid or 0)]
    assert not mine


@pytest.mark.parametrize("who", KEEPERS)
async def test_memory_is_counted_whoever_keeps_it(by_hand: OwnWorkshop, who: str) -> None:
    """Seen failing with the children of first threads and what is mapped in the moment alone: the children of living
    threads, the page of zeros and the tables ran to their end.
    """
    result = await by_hand.run(Job("python", KEEPS + KEEPERS[who], seconds=15))
    assert (result.ending, result.output) == ("memory", "")


async def test_memory_is_found_nowhere_else(by_hand: OwnWorkshop) -> None:
    """Seen failing for what is shared without a file, which the filter let pass."""
    result = await by_hand.run(Job("python", KEEPS + ELSEWHERE, seconds=15))
    assert (result.ending, result.output) == ("exit", "not kept\n" * 5)


async def test_what_processes_have_in_common_is_counted_once(by_hand: OwnWorkshop) -> None:
    """Seen failing with what each has mapped added up: 150 MB and three forks were too much."""
    result = await by_hand.run(Job("python", KEEPS + IN_COMMON, seconds=15))
    assert (result.ending, result.output) == ("exit", "well\n")


def _parent_chain_has(pid: int, wanted: int) -> bool:
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
        if pid == wanted:
            return True
    return False


async def test_links_and_devices_stay_inside(workshop: OwnWorkshop) -> None:
    """Seen failing without the look at the kind of an entry: a path that does not fit ends the answer."""
    made = """
    echo new > new.txt; mkdir -p a; echo deep > a/b.txt; echo other > given.txt
    ln -s /etc/passwd link; ln -s /etc afolder; mkfifo pipe; ln new.txt hard; echo x > "bad
name"
    """
    files = (WorkFile("given.txt", b"given"), WorkFile("same.txt", b"same"))
    result = await workshop.run(Job("shell", made, files))
    took = {file.path: file.content for file in result.files}
    assert {"a/b.txt": b"deep\n", "given.txt": b"other\n"}.items() <= took.items()
    assert b"new\n" in took.values()
    assert "same.txt" not in took
    assert not {"link", "afolder", "pipe", "afolder/passwd"} & took.keys()
    assert {"link", "afolder", "pipe"} <= set(result.left_out)
    assert all(name.isprintable() for name in (*took, *result.left_out))


async def test_the_process_of_the_workshop_has_no_secret_no_network_and_no_root(
    by_hand: OwnWorkshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen failing with the service's own environment handed on, and without `leave_root`."""
    monkeypatch.setenv(*SECRET.split("="))
    await by_hand.run(Job("shell", "true"))
    about = Path(f"/proc/{by_hand.pid}")
    assert b"hunter2" not in (about / "environ").read_bytes()
    assert os.readlink(about / "ns/net") != os.readlink("/proc/self/ns/net")  # noqa: PTH115 - in a coroutine
    assert "\nUid:\t0\t" not in (about / "status").read_text(encoding="utf-8")


async def test_where_namespaces_are_forbidden_nothing_is_offered() -> None:
    """As in the service's own unit (RestrictNamespaces) and under Docker's own filter."""
    needs_rooms()
    if os.geteuid() != 0:
        pytest.skip("only root can set these limits up")
    workshop = confined("filtered")
    with pytest.raises(Exception, match="could not be started"):
        await workshop.run(Job("shell", "true"))
    await workshop.close()
