"""Options that several studies of scores share: how scores are perturbed, which pairs there are."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from vuskit.cli.options import seed_option
from vuskit.errors import InvalidInputError

__all__ = ["PairChoice", "Perturbing", "pair_choice_of", "perturbing_of"]

Lag = Annotated[float, typer.Option("--lag", metavar="X", help="Longest lag, in buffers.")]
Noise = Annotated[
    float, typer.Option("--noise", metavar="X", help="Largest noise, in ranges of the score.")
]
Seed = Annotated[int, seed_option("of lags and noise.")]
Pair = Annotated[
    list[str] | None,
    typer.Option(
        "--pair", metavar="GOOD:BAD", help="Accurate and inaccurate detector. May be repeated."
    ),
]
Criterion = Annotated[
    str | None,
    typer.Option(
        "--criterion", metavar="NAME", help="Measure that chooses the pairs; not one under study."
    ),
]
Top = Annotated[int, typer.Option("--top", min=1, metavar="N", help="Detectors called accurate.")]
Bottom = Annotated[
    int, typer.Option("--bottom", min=1, metavar="N", help="Detectors called inaccurate.")
]
MinGap = Annotated[
    float, typer.Option("--min-gap", metavar="X", help="Least difference of the criterion.")
]


@dataclass(frozen=True)
class Perturbing:
    """How scores are perturbed."""

    lag: float
    noise: float
    seed: int

    def to_options(self, count: int | None) -> dict[str, Any]:
        """Options of a study; of how many perturbations only if that was said."""
        return asdict(self) | ({} if count is None else {"count": count})


def perturbing_of(lag: Lag = 0.25, noise: Noise = 0.05, seed: Seed = 0) -> Perturbing:
    """Put together how scores are perturbed."""
    return Perturbing(lag, noise, seed)


@dataclass(frozen=True)
class PairChoice:
    """Which pairs of detectors are kept apart, or the rule that chooses them."""

    pairs: tuple[tuple[str, str], ...]
    criterion: str | None
    top: int
    bottom: int
    min_gap: float

    def to_options(self) -> dict[str, Any]:
        """Options of a study; without those that were left to it."""
        return {name: value for name, value in asdict(self).items() if value not in ((), None)}


def pair_choice_of(
    pair: Pair = None,
    criterion: Criterion = None,
    top: Top = 3,
    bottom: Bottom = 4,
    min_gap: MinGap = 0.1,
) -> PairChoice:
    """Put together which pairs are wanted.

    Raises
    ------
    InvalidInputError
        If a pair is not two detectors with a colon between.
    """
    return PairChoice(tuple(map(_split_pair, pair or ())), criterion, top, bottom, min_gap)


def _split_pair(text: str) -> tuple[str, str]:
    good, colon, bad = text.partition(":")
    if not (good and colon and bad):
        raise InvalidInputError(f"`--pair` must be GOOD:BAD, got {text!r}")
    return good, bad
