"""Colors of detectors: legible on both backgrounds, different from each other."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from vuskit.report.page.document import part

TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(color):
    shares = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    light = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) + 0.05 for color in (one, other))
    return light[1] / light[0]


def oklab(color):
    return TO_OKLAB @ np.cbrt(TO_CONES @ linear(color))


@pytest.mark.parametrize(("theme", "place"), [("light", 0), ("dark", 1)])
def test_twelve_colors_can_be_told_apart(theme, place):
    colors = re.findall("#[0-9a-f]{6}", re.search(rf"{theme}: \[(.*)\]", part("core.js"))[1])
    backgrounds = [
        re.findall(rf"--{name}: (#[0-9a-f]{{6}})", part("page.css"))[place]
        for name in ("paper", "panel")
    ]
    assert len(set(colors)) == 12
    for color in colors:
        assert min(contrast(color, background) for background in backgrounds) >= 3, color
    for one, other in combinations(colors, 2):
        assert np.linalg.norm(oklab(one) - oklab(other)) >= 0.1, (one, other)
