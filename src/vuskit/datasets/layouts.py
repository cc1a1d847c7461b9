"""Read names of series, data sets and detectors from paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vuskit._util.text import plural, quoted
from vuskit.datasets.columns import GENERIC_SCORES, Roles
from vuskit.datasets.readers.registry import plain_name, stem
from vuskit.errors import InvalidInputError

SHOWN = 6  # names in a message
_PLACEHOLDER = re.compile(r"(\{(?:series|dataset|detector)\})")
# Indexed by the number of folders above the files.
LAYOUTS = (
    ("{series}", "{series}_{detector}", "{detector}_{series}"),
    (
        "{detector}/{series}",
        "{series}/{detector}",
        "{dataset}/{series}",
        "{dataset}/{series}_{detector}",
        "{dataset}/{detector}_{series}",
    ),
    (
        "{detector}/{dataset}/{series}",
        "{dataset}/{detector}/{series}",
        "{dataset}/{series}/{detector}",
    ),
)


@dataclass(frozen=True)
class ScoreFile:
    """A score file: its path below the folder, and the roles of its columns."""

    path: Path
    key: str
    roles: Roles

    @property
    def parts(self) -> tuple[str, ...]:
        """Folders below the root, then the name without suffixes."""
        return (*Path(self.key).parts[:-1], stem(self.path))

    @property
    def is_generic(self) -> bool:
        """Whether only the path can name the detector: the one score column has a generic name."""
        scores = self.roles.scores
        return len(scores) == 1 and scores[0].strip().lower() in GENERIC_SCORES


@dataclass(frozen=True)
class Names:
    """Names parsed from a path; None: not part of the path."""

    series: str
    dataset: str | None = None
    detector: str | None = None


def expression_of(pattern: str, **known: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern with placeholders, some of which are known."""
    pieces, seen = [], set()
    for part in _PLACEHOLDER.split(pattern):
        name = part[1:-1]
        if not _PLACEHOLDER.fullmatch(part):
            pieces.append(re.escape(part))
        elif name in known:
            pieces.append(re.escape(known[name]))
        elif name in seen:
            pieces.append(f"(?P={name})")
        else:
            seen.add(name)
            pieces.append(f"(?P<{name}>[^/]+?)")
    return re.compile("".join(pieces))


def names_by_pattern(pattern: str, file: ScoreFile) -> Names | None:
    """Read the names of a file by the pattern of the user; None if it does not match."""
    expression = expression_of(pattern)
    plain = Path(file.key).with_name(plain_name(file.path)).as_posix()
    for key in (plain.removesuffix(Path(plain).suffix), plain, file.key):
        match = expression.fullmatch(key)
        if match is not None:
            return Names(**match.groupdict())
    return None


def named_by_pattern(
    pattern: str, root: Path, files: Sequence[ScoreFile], notes: list[str]
) -> list[tuple[ScoreFile, Names]]:
    """Return the files that match the pattern of the user, with their names."""
    read = [(file, names_by_pattern(pattern, file)) for file in files]
    found = [(file, names) for file, names in read if names is not None]
    others = [file.key for file, names in read if names is None]
    if not found:
        raise InvalidInputError(
            f"`pattern` must match files in {root}, got {pattern!r}, which "
            f"matches none of {quoted(others, most=SHOWN)}"
        )
    if others:
        notes.append(
            f"{root}: skipped {plural(len(others), 'file')} not matching "
            f"{pattern!r}: {quoted(others, most=SHOWN)}"
        )
    return found


def depth_of(files: Sequence[ScoreFile]) -> int:
    """Return the number of folders above the files."""
    depths = {len(file.parts) - 1 for file in files}
    if len(depths) > 1 or max(depths) >= len(LAYOUTS):
        shown = quoted([file.key for file in files], most=SHOWN)
        raise InvalidInputError(
            "score files must be at the same depth, at most two folders down, to detect names, "
            f"got {shown}; describe the paths, for example with "
            '--pattern "{detector}/{series}.npy"'
        )
    return depths.pop()


def ambiguous(root: Path, example: str, layouts: Sequence[str]) -> InvalidInputError:
    """Return the error for paths that several layouts fit."""
    choices = " or ".join(f'--pattern "{layout}"' for layout in layouts)
    return InvalidInputError(f"{root}: paths such as {example!r} are ambiguous; choose {choices}")


def layout_note(layout: str, file: ScoreFile, names: Names) -> str:
    """Describe how a path was read."""
    known = (("detector", names.detector), ("data set", names.dataset), ("series", names.series))
    shown = ", ".join(f"{what} {name!r}" for what, name in known if name is not None)
    return f"{file.key!r} is interpreted as {layout}: {shown}; use --pattern to change this"


def parse_by_layout(
    layout: str, parts: Sequence[str], cut: Callable[[str, bool], tuple[str, str] | None]
) -> Names | None:
    """Parse a path by a layout; `cut` splits a part into series and detector."""
    names: dict[str, str] = {}
    for piece, part in zip(layout.split("/"), parts, strict=True):
        keys = [key[1:-1] for key in _PLACEHOLDER.findall(piece)]
        if len(keys) == 1:
            names[keys[0]] = part
            continue
        found = cut(part, keys[0] == "series")
        if found is None:
            return None
        names["series"], names["detector"] = found
    return Names(**names)


def cut_at_underscore(part: str, series_first: bool) -> tuple[str, str] | None:
    """Split a part of a path into series and detector at its last underscore."""
    before, _, after = part.rpartition("_")
    if not before or not after:
        return None
    return (before, after) if series_first else (after, before)
