"""``vuskit compare --buffers``: whether the ranking depends on the buffer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vuskit._util.tables import frame_csv
from vuskit.cli._output import json_text, say, terminal_width, write
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.studies import BufferDependence

__all__ = ["BufferCheck", "write_buffer_ranks"]


class BufferCheck:
    """Rank detectors with multiples of each buffer, from saved scores.

    Parameters
    ----------
    sources : sequence of Path
        One run folder, its plan, a pack, or a folder of saved scores.
    factors : str
        Multiples of the buffer, separated by commas.
    labels : Path or None
        Labels of a folder of saved scores.
    align, window : str or None, int or None
        Point of the window that a score belongs to, and window length; for saved scores.
    alpha, test
        As for `vuskit.studies.compare`.

    Raises
    ------
    InvalidInputError
        If the factors are not numbers, or there are no scores.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        factors: str,
        *,
        labels: Path | None,
        align: str | None,
        window: int | None,
        alpha: float,
        test: str,
    ) -> None:
        from vuskit.bench.sources import find_run, open_scores

        source = sources[0]
        run = find_run(source)
        if len(sources) > 1 or not (source.is_dir() or run is not None):
            shown = ", ".join(repr(str(one)) for one in sources)
            raise InvalidInputError(
                "`--buffers` needs scores: give one run folder, plan, pack, or folder of saved "
                f"scores, got {shown}"
            )
        try:
            self.factors = [float(one) for one in factors.split(",")]
        except ValueError:
            raise InvalidInputError(
                f"`--buffers` must be numbers separated by commas, such as 0.5,1,2, got {factors!r}"
            ) from None
        self.alpha, self.test = alpha, test
        self.is_folder_of_scores = run is None
        self.inputs = open_scores(source, labels=labels, align=align, window=window)
        for note in self.inputs.notes:
            say(f"note: {note}")
        self.source = self.inputs if run is None else run.folder

    def run(
        self, measure: str | None, detectors: Sequence[str] | None, settings: str | None
    ) -> BufferDependence:
        """Rank the detectors with each multiple of the buffer."""
        from vuskit.studies import buffer_dependence

        return buffer_dependence(
            self.source,
            factors=self.factors,
            measure=measure or "vus_pr",
            settings=settings,
            detectors=detectors or None,
            alpha=self.alpha,
            test=self.test,
        )


def write_buffer_ranks(
    found: BufferDependence, form: str, *, beside: bool = False, saved: bool = False
) -> None:
    """Print the ranks by buffer, and warn if they depend on it.

    With `beside`, another output was printed before. JSON and csv hold only that one; the message
    is omitted if the ranks were `saved` to a file.
    """
    if form == "table":
        write(("\n" if beside else "") + found.to_text(terminal_width()))
    elif not beside:
        write(_in_form(found, form))
    elif form in ("latex", "markdown"):
        write("\n" + _in_form(found, form))
    elif not saved:
        say(f"the ranks by buffer are not part of {form}; add --output FOLDER or --html FILE")
    for warning in found.warnings:
        say(f"warning: {warning}")
    if not found.warnings:
        say(found.verdict)


def _in_form(found: BufferDependence, form: str) -> str:
    frame = found.to_frame()
    if form == "json":
        return json_text(frame.to_dict("records"))
    return frame_csv(frame) if form == "csv" else str(getattr(found, f"to_{form}")())
