"""Check that an environment holds vuskit, NumPy and the installer only. Run it with that Python."""

from __future__ import annotations

import sys
from importlib.metadata import distributions

ALLOWED = {"vuskit", "numpy", "pip", "setuptools", "wheel"}


def main() -> None:
    extra = sorted({found.metadata["Name"] for found in distributions()} - ALLOWED)
    if extra:
        sys.exit(f"the core install must bring NumPy alone, got also: {', '.join(extra)}")

    import vuskit
    from vuskit.kernels.backend import core_name

    labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
    if len(vuskit.evaluate(labels, score, buffer=2)) != 13:
        sys.exit("the core install must compute all thirteen measures")
    sys.stdout.write(f"core: {core_name()}\n")  # fails if VUSKIT_CORE=native lacks its library


if __name__ == "__main__":
    main()
