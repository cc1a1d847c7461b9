"""A choice of displays: one per series, detector or data set, shown one at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from vuskit.errors import InvalidInputError
from vuskit.figures.base import Display

Key = tuple[str, ...]
Item = TypeVar("Item")


@dataclass(eq=False, repr=False)
class ChoiceDisplay(Display):
    """Displays of the same kind, chosen by one or more names.

    Displays are created on first use. :meth:`plot` draws the first display or that of a given key;
    pages let the reader choose.

    Attributes
    ----------
    labels : tuple of str
        Names of the parts of a key, such as ``("series", "detector")``.
    keys : sequence of tuple of str
        One key for each display; the first is drawn by default.
    make : callable
        Returns the display of a key.
    total : int
        Number of displays before :meth:`limited` dropped some; 0 if none were dropped.

    Raises
    ------
    InvalidInputError
        If there is nothing to choose from.

    Examples
    --------
    >>> from vuskit.figures import SeriesDisplay
    >>> scores = {"LOF": [0.1, 0.9, 0.2], "PCA": [0.3, 0.4, 0.1]}
    >>> display = ChoiceDisplay(("detector",), [("LOF",), ("PCA",)],
    ...     lambda key: SeriesDisplay.from_scores([0, 1, 0], {key[0]: scores[key[0]]}))
    >>> display
    ChoiceDisplay(2 choices by detector)
    >>> display.display(("PCA",))
    SeriesDisplay(3 points: PCA)
    """

    kind: ClassVar[str] = "choice"
    labels: tuple[str, ...]
    keys: Sequence[Key]
    make: Callable[[Key], Display]
    total: int = 0
    _made: dict[Key, Display] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not self.keys:
            raise InvalidInputError("`keys` must hold at least one key, got none")

    def display(self, key: Key) -> Display:
        """Return the display of a key.

        Raises
        ------
        InvalidInputError
            If there is no such key.
        """
        if key not in self.keys:
            raise InvalidInputError(f"`key` must be one of the {len(self.keys)} keys, got {key!r}")
        if key not in self._made:
            self._made[key] = self.make(key)
        return self._made[key]

    def data(self) -> dict[str, Any]:
        """Return the keys, the data that all displays share, and the rest of each display."""
        held = [self.display(key).to_dict() for key in self.keys]
        first, *others = held
        shared = {
            name: value
            for name, value in first.items()
            if all(name in other and other[name] == value for other in others)
        }
        return {
            "labels": list(self.labels),
            "total": self.total or len(self.keys),
            "shared": shared,
            "choices": [
                {
                    "key": list(key),
                    "figure": {name: value for name, value in one.items() if name not in shared},
                }
                for key, one in zip(self.keys, held, strict=True)
            ],
        }

    def limited(self, count: int) -> ChoiceDisplay:
        """Keep at most `count` displays, evenly from all data sets of the first label.

        Displays with the same first name are kept or dropped together.
        """
        names = list(dict.fromkeys(key[0] for key in self.keys))
        each = max(len(self.keys) / len(names), 1)
        kept = set(sampled(names, max(int(count / each), 1), lambda name: name.rpartition("/")[0]))
        keys = [key for key in self.keys if key[0] in kept]
        total = 0 if len(keys) == len(self.keys) else len(self.keys)
        return ChoiceDisplay(
            self.labels, keys, self.make, total, title=self.title, caption=self.caption
        )

    def plot(self, ax: Any = None, *, key: Key | None = None, **options: Any) -> Display:
        """Draw one of the displays and return it.

        Parameters
        ----------
        ax : Axes or several, optional
            Where to draw, as for the display.
        key : tuple of str, optional
            Key of the display; the first by default.
        **options
            Options of the display.
        """
        chosen = self.display(self.keys[0] if key is None else key)
        drawn: Display = chosen.plot(ax, **options)
        self.ax_, self.axes_, self.figure_ = drawn.ax_, drawn.axes_, drawn.figure_
        return drawn

    def _about(self) -> str:
        return f"{len(self.keys)} choices by {' and '.join(self.labels)}"


def sampled(
    items: Sequence[Item], count: int, group: Callable[[Item], Hashable] = lambda item: None
) -> list[Item]:
    """Keep at most ``count`` items, evenly from all groups, in their order."""
    if len(items) <= count:
        return list(items)
    groups: dict[Hashable, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(group(item), []).append(place)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups.values()))
    chosen = itertools.islice((place for place in turns if place is not None), count)
    return [items[place] for place in sorted(chosen)]
