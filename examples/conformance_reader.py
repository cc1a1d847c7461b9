"""Test an implementation against the conformance suite; needs Python only.

vuskit conformance export --output suite.json
python conformance_reader.py suite.json results.json
vuskit conformance check results.json
"""

import json
import sys


def auc_roc(y_true, y_score):
    """Return the share of pairs in which the anomalous point scores higher; ties count half."""
    high = [score for label, score in zip(y_true, y_score, strict=True) if label]
    low = [score for label, score in zip(y_true, y_score, strict=True) if not label]
    if not high or not low:
        return None  # the measure has no value
    return sum((a > b) + (a == b) / 2 for a in high for b in low) / (len(high) * len(low))


MEASURES = {"auc_roc": auc_roc}  # your functions, by the names in the suite

with open(sys.argv[1], encoding="utf-8") as file:
    suite = json.load(file)
inputs = {entry["name"]: entry for entry in suite["inputs"]}
results, wrong = {}, 0
for check in suite["checks"]:
    if check["measure"] not in MEASURES:
        continue
    series = inputs[check["input"]]
    function = MEASURES[check["measure"]]
    got = function(series["y_true"], series["y_score"], **check["options"])
    results[check["id"]] = got
    if got is None or check["expected"] is None:
        wrong += got is not check["expected"]
    else:
        wrong += abs(got - check["expected"]) > suite["tolerance"]
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump({"implementation": "mine", "version": suite["version"], "results": results}, file)
print(f"{len(results)} checks, {wrong} wrong")
