"""The filter of system calls for programs in a room (a sandbox).

Namespaces leave gaps: kernel keys, virtual machine sockets (vsock), and memory that belongs to no process or cannot be
counted. The filter refuses the system calls for those, and some that only make the kernel easier to attack; all others
are allowed.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_ALIKE: Final = {
    "pidfd_getfd": 438,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "mount_setattr": 442,
    "memfd_secret": 447,
}
"""Numbers that are the same on all machines."""


@dataclass(frozen=True, slots=True)
class _Machine:
    audit: int
    socket: int
    clone: int
    mmap: int
    refused: Mapping[str, int]


_MACHINES: Final = {
    "x86_64": _Machine(
        0xC000003E,
        41,
        56,
        9,
        {"keyctl": 250, "add_key": 248, "request_key": 249, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323}
        | {"memfd_create": 319, "shmget": 29, "msgget": 68, "semget": 64, "setns": 308, "unshare": 272, "mount": 165}
        | {"pivot_root": 155, "kcmp": 312, "open_by_handle_at": 304}
        | _ALIKE,
    ),
    "aarch64": _Machine(
        0xC00000B7,
        198,
        220,
        222,
        {"keyctl": 219, "add_key": 217, "request_key": 218, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282}
        | {"memfd_create": 279, "shmget": 194, "msgget": 186, "semget": 190, "setns": 268, "unshare": 97, "mount": 40}
        | {"pivot_root": 41, "kcmp": 272, "open_by_handle_at": 265}
        | _ALIKE,
    ),
}
SOCKETS: Final = (1, 2, 10)
"""AF_UNIX, AF_INET and AF_INET6: the families that stay within the room's own network."""
_CLONE3: Final = 435
"""clone3 passes its flags where a filter cannot look; a caller that gets ENOSYS falls back to clone."""
_NAMESPACES: Final = 0x7E020080
"""The flags of `clone` that ask for a namespace (CLONE_NEW…)."""
_SHARED_WITHOUT_A_FILE: Final = 0x21
"""MAP_SHARED and MAP_ANONYMOUS: memory that remains when most of it is unmapped, and then cannot be counted."""
_ALLOW, _REFUSE, _UNKNOWN, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 40
_X32: Final = 0x40000000
"""First number of x86_64's second set of calls, for 32-bit addresses."""


def known_machine() -> bool:
    """Return whether there is a filter for this machine's processor architecture."""
    return platform.system() == "Linux" and platform.machine() in _MACHINES


def program() -> bytes:
    """Return the filter in the kernel's form (struct sock_filter) for this machine's processor architecture. Refused
    system calls fail with EPERM, `clone3` as if the kernel did not know it; a call of another architecture ends the
    process. Raises KeyError on a machine that is not known.
    """
    known = _MACHINES[platform.machine()]
    refused = sorted(known.refused.values())
    # These are followed by a line for each refused call, those for clone, mmap and sockets, and finally "refuse" and
    # "allow".
    lines = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, known.audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    to_refuse = len(refused) + 5 + 4 + 1 + 1 + len(SOCKETS)
    lines.append((_AT_LEAST, to_refuse, 0, _X32))
    lines += [(_EQUAL, to_refuse - 1 - at, 0, number) for at, number in enumerate(refused)]
    lines += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _UNKNOWN)]
    lines += [(_EQUAL, 0, 2, known.clone), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    lines.append((_ANY_OF, 6 + len(SOCKETS), 7 + len(SOCKETS), _NAMESPACES))
    lines += [(_EQUAL, 0, 3, known.mmap), (_LOAD, 0, 0, _FOURTH_ARGUMENT), (_AND, 0, 0, _SHARED_WITHOUT_A_FILE)]
    lines.append((_EQUAL, 2 + len(SOCKETS), 3 + len(SOCKETS), _SHARED_WITHOUT_A_FILE))
    lines.append((_EQUAL, 0, len(SOCKETS) + 2, known.socket))
    lines.append((_LOAD, 0, 0, _FIRST_ARGUMENT))
    lines += [(_EQUAL, len(SOCKETS) - at, 0, family) for at, family in enumerate(SOCKETS)]
    lines += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
