"""Keeps memory use small although pictures of ten megabytes are allocated and freed in many threads, and keeps the
garbage collector fast.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""mallopt's numbers for them (glibc, malloc.h)."""
ARENAS = 1
"""Number of heaps. By default glibc gives every thread a heap of its own, up to eight for each core, and each keeps the
size that its largest pictures once needed. Pictures are processed in C without the interpreter's lock, but rarely
enough that one heap is no bottleneck: with 4 phones it took a third less memory and no more processor time.
"""
KEPT = 64 * 1024 * 1024
"""Bytes that stay at the end of the heap when they are free. By default glibc returns them at 20 MB, which happens with
every picture of a step, and the next picture gets them again page by page: a quarter of the processor time of a step.
"""
LARGEST = 32 * 1024 * 1024
"""Bytes of an allocation that still comes from the heap: any picture of a phone. It is the largest value that glibc
accepts. Setting either of the two values ends glibc's own adjustment of both.
"""

logger = logging.getLogger(__name__)


def tune_malloc() -> None:
    """Configure the C library's heap to return freed memory to the system. Call it before the first thread is started.
    Does nothing if the C library is not glibc.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        logger.debug("this C library has no heap to adjust")
        return
    for what, value in ((M_ARENA_MAX, ARENAS), (M_TRIM_THRESHOLD, KEPT), (M_MMAP_THRESHOLD, LARGEST)):
        if not mallopt(what, value):
            logger.debug("this C library does not take %d for %d of its heap", value, what)


def freeze_gc() -> None:
    """Exempt all objects that exist now from garbage collection. Call it at the end of the start, when these are mainly
    the program itself.

    The collector would otherwise go through these 220,000 objects about once a minute, while the event loop stands
    still for 0.1 s, or more on a busy machine. Without them it takes a few milliseconds.
    """
    gc.collect()
    gc.freeze()
    gc.collect()  # a full collection resets the object count that delays the next one
