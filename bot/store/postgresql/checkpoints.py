"""LangGraph checkpoints in PostgreSQL, in LangGraph's own tables in the same database as the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection, OperationalError
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from bot.store.checkpoints import PRUNE_EVERY, Checkpoints, is_pending, serializer, threads_of
from bot.store.postgresql.server import CLIENT, IS_OWN, SETTINGS, Server
from bot.store.waiting import PATIENCE_S, PatientWrites, retry_while_away

CONNECTIONS: Final = 4
"""Connections at most; each graph at work needs one briefly at each of its steps."""
WAIT_S: Final = 10.0
"""Seconds to wait for a connection, also while the server is away."""
_FORGET: Final = """DELETE FROM {} WHERE thread_id = %s OR (thread_id >= %s COLLATE "C" AND thread_id < %s COLLATE "C")
    OR (thread_id >= %s COLLATE "C" AND thread_id < %s COLLATE "C")"""
_SIZE: Final = "SELECT sum(pg_total_relation_size(name::regclass)) AS size FROM unnest(%s::text[]) AS name"
CHECKPOINT_TABLES: Final = ("checkpoint_writes", "checkpoint_blobs", "checkpoints")


class PostgresCheckpoints(AsyncPostgresSaver, Checkpoints):
    """LangGraph checkpoints in PostgreSQL. The base class keeps all checkpoints of a thread; this one deletes old
    ones.
    """

    def __init__(self, pool: AsyncConnectionPool[AsyncConnection[DictRow]], server: Server) -> None:
        super().__init__(pool, serde=serializer())
        self._server = server
        self._writes = PatientWrites(f"{server.name} (checkpoints)", server.explained)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the last checkpoint of a thread; None if it has none. Waits while the server is unreachable."""

        async def read() -> CheckpointTuple | None:
            with self._server.explained():
                return await super(PostgresCheckpoints, self).aget_tuple(config)

        return await retry_while_away(read, seconds=PATIENCE_S)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save a node's writes if they contain an interrupt, answer or error. Plain output is skipped: the next
        checkpoint contains it a moment later.
        """
        if is_pending(writes):
            await self._writes.retry(
                lambda: super(PostgresCheckpoints, self).aput_writes(config, writes, task_id, task_path)
            )

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint and return the config that refers to it. Every `PRUNE_EVERY` steps the earlier ones are
        deleted.
        """
        kept = Checkpoint(**checkpoint)
        # Texts of the state are in a JSON column, which cannot store NUL.
        kept["channel_values"] = {
            name: value.replace("\0", "\ufffd") if isinstance(value, str) else value
            for name, value in checkpoint["channel_values"].items()
        }
        saved = await self._writes.retry(
            lambda: super(PostgresCheckpoints, self).aput(config, kept, metadata, new_versions)
        )
        if metadata.get("step", 0) % PRUNE_EVERY == 0:
            await self._writes.retry(lambda: self.aprune([str(config["configurable"]["thread_id"])]))
        return saved

    async def size(self) -> int:
        """Return how many bytes the checkpoints take on the disk. Raises StoreError."""
        with self._server.explained():
            async with self._cursor() as cursor:
                await cursor.execute(_SIZE, (list(CHECKPOINT_TABLES),))
                row = await cursor.fetchone()
        return int(row["size"]) if row else 0

    async def forget(self, task: str) -> None:
        """Delete the checkpoints of a task, of its runs and of its team members."""
        await self._writes.retry(lambda: self._forget(task))

    async def _try_out(self) -> None:
        await self._forget("probe")  # there is no such task

    async def _forget(self, task: str) -> None:
        async with self._cursor() as cursor, cursor.connection.transaction():
            for table in CHECKPOINT_TABLES:
                await cursor.execute(_FORGET.format(table).encode(), threads_of(task))


@asynccontextmanager
async def open_checkpoints(url: str, *, owns: bool = False) -> AsyncIterator[PostgresCheckpoints]:
    """Context manager that yields the checkpoints in this database. Raises StoreError if they cannot be used.

    With `owns` they work only while this process owns the database (see `bot.store.postgresql.server`), because the
    next owner continues the same threads.
    """
    server = Server(url)
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        url,
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row, **CLIENT},
        min_size=1,
        max_size=CONNECTIONS,
        timeout=WAIT_S,
        reconnect_timeout=WAIT_S,  # after that, the next request for a connection starts again
        configure=_configure,
        check=_require_own if owns else AsyncConnectionPool.check_connection,
        name="checkpoints",
        open=False,
    )
    async with pool:
        saver = PostgresCheckpoints(pool, server)
        with server.explained(in_full=True):
            await saver.setup()
        yield saver


async def _require_own(connection: AsyncConnection[DictRow]) -> None:
    found = await connection.execute(IS_OWN)
    if await found.fetchone() is None:
        raise OperationalError("another service has the record")


async def _configure(connection: AsyncConnection[DictRow]) -> None:
    for name, value in SETTINGS.items():
        await connection.execute("SELECT set_config(%s, %s, false)", (name, value))
