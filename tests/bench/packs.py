"""A run on files with its pack, and changes of packs as a forger would make them."""

from __future__ import annotations

import hashlib
import json
import zipfile

import numpy as np
import pandas as pd
from bench.conftest import Workshop

from vuskit.bench import Run

DATA = """
[[series]]
folder = "data"
format = "scores"
"""


def make_packed_run(base):
    """Run two detectors, one of which fails, and saved scores on two files; write the pack."""
    place = base / "data" / "lab"
    place.mkdir(parents=True)
    random = np.random.default_rng(0)
    for name in ("a", "b"):
        labels = np.zeros(300, dtype=int)
        labels[100:120] = labels[200:230] = 1
        table = {"value": random.normal(size=300), "label": labels}
        score = labels + random.normal(size=300)
        pd.DataFrame(table | {"ours": score}).to_csv(place / f"{name}.csv", index=False)
    shop = Workshop(base)
    shop.write(
        series=DATA,
        detectors=('name = "values"', "raises"),
        top="seeds = [0, 1]",
        evaluate='[[evaluate]]\nmeasures = ["auc_pr", "vus_pr"]\nbuffer = 50',
        tail='[[scores]]\nfolder = "data"',
    )
    shop.run()
    shop.pack = base / "run.vuskit.zip"
    Run(shop.folder).pack(shop.pack)
    shop.forget()
    return shop


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, changes, *, fix_manifest=True, **tables):
    """Replace members, and rows of tables by functions; digests in the manifest fit."""
    content = members(path)
    for name, change in tables.items():
        columns, *rows = map(json.loads, content[f"{name}.jsonl"].splitlines())
        changed = change([dict(zip(columns, row, strict=True)) for row in rows])
        lines = [columns, *(list(row.values()) for row in changed)]
        content[f"{name}.jsonl"] = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    content |= {name: data for name, data in changes.items() if data is not None}
    for name in [name for name, data in changes.items() if data is None]:
        del content[name]
    if fix_manifest:
        manifest = json.loads(content["manifest.json"])
        manifest["members"] = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in content.items()
            if name != "manifest.json"
        }
        content["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
