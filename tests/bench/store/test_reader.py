"""Reading a store while it is written, or where nothing can be written."""

from __future__ import annotations

import sqlite3

from vuskit.bench import Run, Status, Store
from vuskit.bench.store import reader


def test_reading_goes_on_while_somebody_writes(workshop):
    workshop.write().run()
    with Store(workshop.folder) as store, store.transaction() as connection:
        connection.execute("DELETE FROM results WHERE kind = 'evaluate'")
        assert Run(workshop.folder).status().count(Status.OK) == 4
        before = Run(workshop.folder).values()
    assert len(before) == 4
    assert len(Run(workshop.folder).values()) == 0


def test_a_store_with_an_open_log_is_copied_where_nothing_can_be_written(workshop, monkeypatch):
    """As on a read-only disk: the log of a killed run holds the last transactions."""
    folder = workshop.write().folder
    workshop.run()
    writer = sqlite3.connect(folder / "results.sqlite")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE starts SET host = 'late'")
    writer.commit()
    real = reader._connected
    refused = []

    def connected(path, options):
        if path.parent == folder and options == "mode=ro":
            refused.append(path)
            raise sqlite3.OperationalError("unable to open database file")
        return real(path, options)

    monkeypatch.setattr(reader, "_connected", connected)
    assert Run(folder).status().run["host"] == "late"
    writer.close()
    # The log is gone: the file is all there is.
    assert Run(folder).status().run["host"] == "late"
    assert len(refused) == 2
