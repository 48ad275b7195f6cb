"""The tables and statements of the store are for PostgreSQL too, which reads them without another definition."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from sqlalchemy import Select, UpdateBase
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.schema import CreateIndex, CreateTable

import bot.store
from bot.store.engine import Statement
from bot.store.sqlite import SQLITE
from bot.store.tables import metadata

POSTGRESQL = PGDialect_psycopg()
