"""Reading a store while it is written, or where nothing can be written."""

from __future__ import annotations

from vuskit.bench import Run, Status, Store


def test_reading_goes_on_while_somebody_writes(workshop):
    workshop.write().run()
    with Store(workshop.folder) as store, store.transaction() as connection:
        connection.execute("DELETE FROM jobs WHERE kind = 'evaluate'")
        assert Run(workshop.folder).status().count(Status.OK) == 4
        before = Run(workshop.folder).values()
    assert len(before) == 4
    assert len(Run(workshop.folder).values()) == 0
