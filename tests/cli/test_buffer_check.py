"""``vuskit compare --buffers``, of a folder of scores and of a run."""

from __future__ import annotations

import json

import numpy as np


def test_buffers_show_whether_the_ranking_depends_on_them(command, tmp_path):
    (tmp_path / "scores").mkdir()
    labels = np.isin(np.arange(600) // 12, [9, 25, 40]).astype(int)
    for place in range(8):
        noise = np.random.default_rng(place).random(600) < 0.06
        columns = [np.arange(600) * (place + 1), labels, np.roll(labels, 16), labels * 0.7 + noise]
        rows = [",".join(f"{one:g}" for one in row) for row in zip(*columns, strict=True)]
        text = "\n".join(["value,label,late,noisy", *rows])
        (tmp_path / "scores" / f"s{place}.csv").write_text(text)
    folder = command("compare", "scores", "--buffers", "0.5,1,16")
    assert folder.code == 0, folder.err
    assert "Kendall's tau" in folder.out
    warning = "warning: the best detector depends on the buffer: noisy at 0.5, noisy at 1, late at"
    assert warning in " ".join(folder.err.split())
    plan = 'executor = {workers = 1}\n[[scores]]\nfolder = "scores"\n[[evaluate]]\n'
    (tmp_path / "plan.toml").write_text(plan + 'measures = ["vus_pr"]\n')
    assert command("bench", "run", "plan.toml", "--plain").code == 0
    run = command("compare", "plan.toml", "--buffers", "0.5,1,16")
    assert run.code == 0, run.err
    assert run.out.endswith(folder.out)
    assert warning in " ".join(run.err.split())
    calm = command("compare", "bench-run", "--buffers", "0.9,1", "--json")
    assert json.loads(calm.out)["rows"] == 8
    assert "the ranking does not depend on the buffer" in calm.err
    assert "the ranks by buffer are not part of json; add --output FOLDER" in calm.err
    latex = command("compare", "bench-run", "--buffers", "0.9,1", "--latex", "--html", "page.html")
    assert latex.out.count(r"\toprule") >= 2
    assert "Kendall" in (tmp_path / "page.html").read_text()
    kept = command("compare", "bench-run", "--buffers", "0.9,1", "--csv", "--output", "out")
    assert "not part of csv" not in kept.err
    assert "0.9" in (tmp_path / "out" / "buffers.csv").read_text()
    assert command("bench", "pack", "bench-run", "run.zip").code == 0
    pack = command("compare", "run.zip", "--buffers", "0.5,1,16")
    assert pack.code == 0, pack.err
    assert pack.out.endswith(folder.out)
    refused = command("compare", "bench-run", "--buffers", "1,2", "--labels", "scores")
    assert (refused.code, "must be used with a folder of saved scores" in refused.err) == (2, True)
    alone = command("compare", "bench-run", "--labels", "scores")
    assert "must be used with --buffers" in " ".join(alone.err.split())
    for given, text in (("1,x", "must be numbers separated by commas"), ("1", "two or more")):
        failed = command("compare", "bench-run", "--buffers", given)
        assert (failed.code, text in " ".join(failed.err.split())) == (2, True)


def test_labels_of_a_folder_of_scores_may_be_elsewhere(command, tmp_path):
    (tmp_path / "labels").mkdir()
    labels = np.isin(np.arange(300) // 10, [9, 20]).astype(int)
    for place in range(4):
        np.save(tmp_path / "labels" / f"s{place}.npy", np.roll(labels, place))
        for detector, shift in (("exact", 0), ("late", 5)):
            folder = tmp_path / "scores" / detector
            folder.mkdir(parents=True, exist_ok=True)
            np.save(folder / f"s{place}.npy", np.roll(labels, place + shift)[5:-4] + 0.5)
    options = ("--labels", "labels", "--align", "center", "--window", "10")
    found = command("compare", "scores", "--buffers", "1,2", *options)
    assert found.code == 0, found.err
    assert "over 4 series" in " ".join(found.out.split())
    assert "the ranking does not depend on the buffer" in found.err
    short = command("compare", "scores", "--buffers", "1,2", "--labels", "labels")
    assert "--align center (or start, end) --window 10" in " ".join(short.err.split())
