"""The tables of the speed comparison as text, at most 100 columns wide."""

from __future__ import annotations

from statistics import median

from speed_cases import TARGET_BUFFER, Series, size_text
from speed_checks import TARGET_COLUMNS, TARGETS, Growth, Outcome
from speed_contenders import CONTENDERS, OWN_ENVIRONMENTS, PEERS
from speed_store import (
    FAILED,
    IMPLIED,
    NOT_INSTALLED,
    OK,
    OVER_LIMIT,
    OVER_MEMORY,
    Key,
    Record,
    Store,
)

OWN_COLUMNS = (
    ("np.sort", "sort", "numpy"),
    ("grid np", "vus-grid", "numpy"),
    ("grid nb", "vus-grid", "numba"),
    ("exact np", "vus-exact", "numpy"),
    ("exact nb", "vus-exact", "numba"),
    ("all13 np", "evaluate", "numpy"),
    ("all13 nb", "evaluate", "numba"),
)
PEER_COLUMNS = tuple((CONTENDERS[p].title, p, CONTENDERS[p].environments[0]) for p in PEERS)
STATUS_TEXT = {
    OVER_LIMIT: "over",
    IMPLIED: "over*",
    OVER_MEMORY: "memory",
    FAILED: "failed",
    NOT_INSTALLED: "absent",
}
Column = tuple[str, str, str]


def number_text(value: float) -> str:
    """Three figures, or two decimals less than that for small shares: 0.023, 1.24, 35.6, 606."""
    if value < 0.995:
        return f"{value:.3f}"
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def ratio_text(record: Record | None) -> str:
    """The cell of a record: a ratio, a lower bound, or why there is none."""
    if record is None:
        return "-"
    if record.ratio is None:
        return STATUS_TEXT[record.status]
    return number_text(record.ratio) if record.status == OK else f">{number_text(record.ratio)}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Columns as wide as they need to be, numbers to the right."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    texts = ["  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([texts[0], "  ".join("-" * width for width in widths), *texts[1:]])


def _cell(store: Store, column: Column, series: Series, buffer: int) -> Record | None:
    _, name, environment = column
    return store.get(Key(name, environment, series, buffer if CONTENDERS[name].uses_buffer else 0))


def _reference_text(records: list[Record | None]) -> str:
    seconds = [t for record in records if record for t in record.reference_seconds]
    return number_text(1000 * median(seconds)) if seconds else "-"


def ratio_table(store: Store, columns: tuple[Column, ...], cases: list[tuple[Series, int]]) -> str:
    """Cost as a share of scikit-learn's two AUCs, a row per case that has anything to show."""
    rows = []
    for series, buffer in cases:
        records = [_cell(store, column, series, buffer) for column in columns]
        if any(records):
            cells = [ratio_text(record) for record in records]
            case = [size_text(series.n), series.events_text, str(buffer)]
            rows.append([*case, _reference_text(records), *cells])
    header = ["n", "events", "L", "sklearn ms", *(title for title, *_ in columns)]
    return table(header, rows)


def target_table(store: Store) -> str:
    """Measured share against the target, for each row and column of the targets."""
    rows = []
    for series, limits in TARGETS.items():
        row = [size_text(series.n), series.events_text]
        for (name, environment), limit in zip(TARGET_COLUMNS.values(), limits, strict=True):
            record = store.get(Key(name, environment, series, TARGET_BUFFER))
            value = record.ratio if record and record.status == OK else None
            verdict = "" if value is None else Outcome(name, value, limit).verdict
            row += [ratio_text(record), f"{limit:g} {verdict}".strip()]
        rows.append(row)
    header = ["n", "events"]
    for title in TARGET_COLUMNS:
        header += [title, "target"]
    return table(header, rows)


def growth_table(store: Store, growth: Growth) -> str:
    """Milliseconds of the exact VUS along one direction; nothing where none were measured."""
    rows = []
    for series, buffer in growth.cases:
        keys = [Key("vus-exact", one, series, buffer) for one in OWN_ENVIRONMENTS]
        records = [store.get(key) for key in (*keys, Key("sort", "numpy", series, 0))]
        cells = [
            f"{1e3 * median(one.seconds):.1f}" if one and one.status == OK else "-"
            for one in records
        ]
        if set(cells[:-1]) != {"-"}:
            size = size_text(growth.size(series, buffer))
            rows.append([size, size_text(series.n), series.events_text, str(buffer), *cells])
    header = [growth.name, "n", "events", "L", "exact np ms", "exact nb ms", "np.sort ms"]
    return table(header, rows) if rows else ""


def outcome_table(outcomes: list[Outcome]) -> str:
    """Every other claim with its limit."""
    rows = []
    for one in outcomes:
        value = "-" if one.measured is None else number_text(one.measured)
        rows.append([one.claim, value, f"{one.limit:.3g}", one.verdict, one.note])
    width = max((len(row[0]) for row in rows), default=0)
    lines = [
        f"{claim.ljust(width)}  {value:>7}  limit {limit:<4} {verdict}{note and f' ({note})'}"
        for claim, value, limit, verdict, note in rows
    ]
    return "\n".join(lines)


def agreement(store: Store, definition: str = "journal") -> str:
    """Largest difference between our grid values and the peers' of the same definition."""
    parts = []
    for peer in (p for p in PEERS if CONTENDERS[p].definition == definition):
        gaps = [
            abs(a - b)
            for record in store
            if record.key.contender == peer and record.status == OK
            for ours in [store.get(Key("vus-grid", "numpy", record.key.series, record.key.buffer))]
            if ours is not None and ours.status == OK
            for a, b in zip(record.values, ours.values, strict=True)
        ]
        if gaps:
            title = CONTENDERS[peer].title
            parts.append(f"  {title}: {max(gaps):.0e} over {len(gaps) // 2} inputs")
    return "\n".join(["Largest difference from our grid values:", *parts]) if parts else ""


def troubles(store: Store, cases: list[tuple[Series, int]]) -> str:
    """One line for each distinct reason why a cell holds no ratio."""
    shown = {}
    wanted = set(cases)
    for record in store:
        if (record.key.series, record.key.buffer) in wanted and record.status in (
            FAILED,
            NOT_INSTALLED,
            OVER_MEMORY,
        ):
            where = f"{record.key.contender} ({record.key.environment})"
            shown[where, record.status] = f"{where}: {record.status}: {record.reason}"
    return "\n".join(text[:100] for text in shown.values())


def load_text(store: Store, cases: list[tuple[Series, int]]) -> str:
    """How busy the machine was: a ratio from a busy machine deserves less trust."""
    wanted = set(cases)
    loads = [
        record.load
        for record in store
        if (record.key.series, record.key.buffer) in wanted and record.load is not None
    ]
    return f"load when the workers started: {min(loads):g} to {max(loads):g}" if loads else ""


LEGEND = (
    "Shares of the time of scikit-learn's roc_auc_score + average_precision_score on the same input"
    "\nin the same process (medians). np: NumPy only; nb: with numba; all13: evaluate, exact."
)
PEER_LEGEND = (
    "Peers compute both VUS measures on 250 thresholds. >x: stopped at the time limit, x is a lower"
    "\nbound; over*: not tried, a smaller case was over the limit; memory: over the memory limit."
)
