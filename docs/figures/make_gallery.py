"""Make the pictures of ``docs/figures.md`` by running the code on that page.

Run with ``python docs/figures/make_gallery.py``; writes ``docs/figures/gallery_*.png``: after each
block of code the object called ``display`` is drawn and saved under the name of its figure.
"""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

from PIL import Image

from vuskit import figures

HERE = Path(__file__).parent
PAGE = HERE.with_suffix(".md")
MOST_BYTES = 1_500_000
DPI = 130  # enough for a page, and a third of the bytes that print needs


def shrunk(path: Path) -> Path:
    """Keep 128 colors: a third of the bytes, and no difference to the eye."""
    picture = Image.open(path).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def main() -> int:
    names: dict[str, object] = {}
    shown, written = None, []
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        exec(compile(example.source, str(PAGE), "single"), names)
        display = names.get("display")
        if display is not None and display is not shown:
            shown = display
            path = HERE / f"gallery_{display.kind}.png"
            display.plot()
            written.append(shrunk(display.save(path, dpi=DPI)))
    held = (getattr(figures, name) for name in figures.__all__ if name.endswith("Display"))
    missing = {display.kind for display in held if display.heading}
    missing -= {path.stem.removeprefix("gallery_") for path in written}
    size = sum(path.stat().st_size for path in set(written))
    print(f"{len(set(written))} pictures, {size:,} bytes", file=sys.stderr)
    for name in sorted(missing):
        print(f"no picture of {name}", file=sys.stderr)
    return int(bool(missing) or size > MOST_BYTES)


if __name__ == "__main__":
    raise SystemExit(main())
