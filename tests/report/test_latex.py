"""Tables for LaTeX."""

from __future__ import annotations

import numpy as np
import pandas as pd

from vuskit.report.latex import latex_frame


def test_latex_of_odd_names_and_numbers():
    frame = pd.DataFrame(
        {"name": ["<a|b>"], "z": [-np.inf], "p": [2.5e-7], "no": [float("nan")], "sure": [True]}
    )
    row = latex_frame(frame, notes=["made up"]).splitlines()[-3]
    assert row == (
        r"\textless{}a\textbar{}b\textgreater{} & $-\infty$ & $2.5 \times 10^{-7}$ &  & True \\"
    )
