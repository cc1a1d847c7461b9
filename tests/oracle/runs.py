"""Labels as half-open runs."""


def events(labels):
    """List every maximal run of non-zero labels as ``(start, stop)``, stop excluded."""
    runs = []
    start = None
    for i, label in enumerate(labels):
        if label and start is None:
            start = i
        if not label and start is not None:
            runs.append((start, i))
            start = None
    if start is not None:
        runs.append((start, len(labels)))
    return runs


def one_class(labels):
    """Say whether the labels lack anomalous or normal points: no measure is defined then."""
    return all(labels) or not any(labels)
