"""A server of PostgreSQL of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def database(real_world: None) -> Iterator[str]:  # noqa: ARG001
    """The address of a record that nobody has used."""
    from tests.fixtures.postgresql import PostgresServer, run_on  # noqa: PLC0415 - an extra

    server = PostgresServer()
    run_on(server.url, "CREATE DATABASE record")
    yield f"{server.url}/record"
    server.remove()
