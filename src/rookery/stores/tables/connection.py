"""How a connection to the SQLite file is set up."""

import os
import sqlite3
from pathlib import Path
from typing import Literal

Durability = Literal["FULL", "NORMAL"]

_STATEMENTS = 512
"""Prepared statements kept: more than there are, so that none is ever compiled twice."""


LOG_LIMIT = 8 * 1024 * 1024
"""Bytes in the write-ahead log from which on it is copied into the database, quiet moment or not."""


def open_writer(file: Path, *, synchronous: Durability) -> sqlite3.Connection:
    """The one connection that writes. Creates the file, readable by its owner alone, when it is missing."""
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = _connect(file)
    try:
        if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
            # Only an empty file can be told to give freed pages back, which pruning a full disk needs.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        # A checkpoint in the middle of a burst makes everybody wait, so it is left to the quiet moments;
        # this is the size at which it can wait no longer.
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_LIMIT // 4096}")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT}")
        # Debian's SQLite writes zeros over whatever is deleted, which takes room that a full disk has not.
        connection.execute("PRAGMA secure_delete = FAST")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(file: Path) -> sqlite3.Connection:
    connection = _connect(file)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        file,
        timeout=5.0,
        isolation_level=None,  # transactions are begun and ended by name
        check_same_thread=False,  # each is used by one thread at a time, not always the one that opened it
        cached_statements=_STATEMENTS,
    )
