"""``vuskit bench pack``: write a run to one file to share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vuskit._util.text import plural
from vuskit.cli._options import EXECUTION, OUTPUT, flag
from vuskit.cli._output import atomic_file, say, write
from vuskit.cli._progress import ProgressBar
from vuskit.cli.bench._arguments import DEFAULT_PLAN, Force, RunFolder, open_run
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.store.pack import PackSummary


def pack(
    target: RunFolder = DEFAULT_PLAN,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Pack to write. Default: RUN.vuskit.zip."),
    ] = None,
    scores: Annotated[
        bool | None,
        typer.Option(
            "--scores/--no-scores",
            help="Include scores. Default: if they have at most 256 MB.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    partial: Annotated[bool, flag("--partial", "Pack an unfinished run.", EXECUTION)] = False,
    force: Force = False,
) -> None:
    """Write the results of a run to one file to share.

    The file holds plan, values, versions, digests and failures; and labels and
    scores, unless they are too large. Others check it with: vuskit bench verify FILE

    Example: vuskit bench pack bench-run results.vuskit.zip
    """
    from vuskit.store.pack import ENDING, SCORES_LIMIT

    run = open_run(target)
    if run.is_pack:
        raise InvalidInputError(
            f"`RUN` must be a run folder or a plan, got {str(target)!r}, which is already a pack; "
            "share it as it is"
        )
    place = file or Path(run.folder.resolve().name + ENDING)
    if place.suffix.lower() != ".zip":
        raise InvalidInputError(f"`FILE` must end in .zip or {ENDING}, got {str(place)!r}")
    if place.exists() and not force:
        raise InvalidInputError(
            f"`FILE` must be a new file, got {str(place)!r}; replace it with --force"
        )
    with ProgressBar("packing") as bar, atomic_file(place) as temporary:
        found = run.pack(temporary, scores=scores, partial=partial, progress=bar)
    _report(found, place, SCORES_LIMIT)
    write(str(place))


def _report(found: PackSummary, place: Path, limit: int) -> None:
    size, all_scores = _megabytes(place.stat().st_size), _megabytes(found.score_bytes)
    about = f"{plural(found.n_values, 'value')} on {found.n_series:,} series"
    if found.with_scores:
        say(f"{about}, {plural(found.n_scores, 'score file')}: {size}")
        return
    say(f"{about}, without scores: {size}")
    if found.score_bytes > limit:
        say(f"the scores take {all_scores}; include them with --scores")
    say("without scores, others can only check digests")


def _megabytes(count: int) -> str:
    """Size in megabytes.

    Examples
    --------
    >>> _megabytes(3 << 20), _megabytes(2000)
    ('3.0 MB', '0.002 MB')
    """
    size = count / (1 << 20)
    return f"{size:.1f} MB" if size >= 0.1 else f"{size:.3f} MB"
