"""Types of all ``--json`` output, and the JSON schemas generated from them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = ["OutputSchema", "list_schemas"]

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Number: TypeAlias = float | None
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Values: TypeAlias = dict[str, Number]
Cell: TypeAlias = str | int | float | bool | None
Record: TypeAlias = dict[str, Cell]
Kind: TypeAlias = Literal["score", "import", "evaluate"]
T = TypeVar("T")
Some: TypeAlias = Annotated[list[T], Meta(min_length=1)]
SomeTexts: TypeAlias = Annotated[list[str], Meta(min_length=1)]


@dataclass(frozen=True)
class OutputSchema:
    """Schema of a JSON document.

    Attributes
    ----------
    name : str
        Short name.
    title : str
        Title of the document.
    command : str
        Command that writes the document, or description of the file.
    make : callable
        Returns the schema without title and description.
    """

    name: str
    title: str
    command: str
    make: Callable[[], dict[str, Any]]

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **self.make(),
            "title": self.title,
            "description": f"Describes {self.command}",
        }


class _Table(Struct, forbid_unknown_fields=True):
    """Part of a document; unknown keys are invalid."""


# -- bench -------------------------------------------------------------------------------------


class ScoreSummary(_Table):
    """Summary of the scores of a job."""

    points: Count
    lowest: Number
    highest: Number


class BenchJob(_Table):
    """A job that was run again."""

    schema: Literal["vuskit-bench-job-1"]
    vuskit: str
    kind: Kind
    title: str
    identity: str
    stored_as: str
    values: Values
    scores: ScoreSummary | None


class BoardMeasure(_Table):
    """Measure of a leaderboard, with the number of series (and data sets) in its means."""

    name: str
    title: str
    family: str
    higher_is_better: bool
    series: Count
    datasets: Count | UnsetType = UNSET


class BoardDetector(_Table):
    """A row of a leaderboard."""

    name: str
    own_series: Count
    own_series_by_measure: dict[str, Count]
    values: Values


class BoardCell(_Table):
    """Mean of a detector over the series of one data set, or of all."""

    detector: Annotated[str | None, Meta(description="null: chance.")]
    dataset: Annotated[str | None, Meta(description="null: over all data sets.")]
    measure: str
    series: Annotated[int, Meta(ge=0, description="Number of series used.")]
    mean: Number
    std: Number
    lower: Number
    upper: Number
    mean_rank: Number


class Board(_Table):
    """Means for one setting; `series` is null if it differs between measures."""

    settings: str
    ordered_by: str
    series: Count | None
    measures: list[BoardMeasure]
    detectors: list[BoardDetector]
    without_values: list[str]
    cells: list[BoardCell]
    failures: Annotated[
        dict[str, str],
        Meta(description="Number of series without a value, with the status, by detector."),
    ]
    datasets: Count | UnsetType | None = UNSET


class BenchLeaderboard(_Table):
    """Leaderboards of a run, one per setting."""

    schema: Literal["vuskit-bench-leaderboard-1"]
    vuskit: str
    folder: str
    by: Literal["series", "dataset"]
    boards: list[Board]


class PlannedSeries(_Table):
    """A series of a plan."""

    dataset: str
    name: str
    points: Count
    channels: Count
    anomalies: Count
    missing: Count


class PlannedEvaluation(_Table):
    """Settings and measures of a plan."""

    settings: str
    measures: list[str]


class JobCount(_Table):
    """Jobs of one kind."""

    all: Count
    to_do: Count


class JobCounts(_Table):
    """Jobs of a plan."""

    scores: JobCount
    evaluations: JobCount


class StaleJobCount(_Table):
    """Finished jobs that run again for one reason."""

    kind: Literal["score", "import", "evaluate"]
    jobs: Count
    reason: str


class SkippedSeries(_Table):
    """Series that a detector cannot score."""

    detector: str
    series: Count
    reason: str


class BenchPlan(_Table):
    """What a benchmark would run."""

    schema: Literal["vuskit-bench-plan-1"]
    vuskit: str
    plan: str
    folder: str
    executor: str
    series: Count
    data: list[PlannedSeries]
    detectors: list[str]
    seeds: list[Count]
    without_seed: list[str]
    evaluations: list[PlannedEvaluation]
    jobs: JobCounts
    skipped: list[SkippedSeries]
    done_before: Count
    stale: list[StaleJobCount]
    notes: list[str]


class BenchRun(_Table):
    """Summary of a run."""

    schema: Literal["vuskit-bench-run-1"]
    vuskit: str
    folder: str
    total: Count
    done: Count
    before: Count
    failed: Count
    failed_before: Count
    counts: dict[str, Count]
    seconds: Annotated[float, Meta(ge=0)]
    notes: list[str]
    not_computed: list[str]


class StatusCounts(_Table):
    """Finished jobs by status."""

    OK: Count
    ERROR: Count
    TIMEOUT: Count
    OOM: Count
    KILLED: Count
    SKIPPED: Count


class CountsByKind(_Table, rename={"imported": "import"}):
    """Finished jobs by kind."""

    score: StatusCounts
    imported: StatusCounts
    evaluate: StatusCounts


class DetectorCounts(_Table):
    """Finished jobs of a detector."""

    name: str
    kind: Kind
    counts: StatusCounts


class LatestStart(Struct):
    """Latest start of a run; may have further keys."""

    id: int
    state: str
    started: str
    host: str
    pid: int
    vuskit: str
    executor: str


class RecordedProgress(Struct, omit_defaults=True):
    """Last recorded progress of a run; empty before the first job."""

    total: Count | UnsetType = UNSET
    done: Count | UnsetType = UNSET
    failed: Count | UnsetType = UNSET
    per_minute: float | UnsetType = UNSET
    seconds_left: Number | UnsetType = UNSET
    running: list[str] | UnsetType = UNSET


class FailedJob(_Table):
    """A failed job."""

    key: str
    status: Literal["ERROR", "TIMEOUT", "OOM", "KILLED"]
    kind: Kind
    detector: str
    dataset: str
    series: str
    seed: int | None
    title: str
    message: str
    command: str


class FailureCause(_Table):
    """Failed jobs with the same status and the same first line of the message."""

    jobs: Annotated[int, Meta(ge=1)]
    example: FailedJob


class BenchStatus(_Table):
    """Progress and failures of a run."""

    schema: Literal["vuskit-bench-status-1"]
    vuskit: str
    run: LatestStart
    progress: RecordedProgress
    counts: CountsByKind
    detectors: list[DetectorCounts]
    values: Count
    failures: list[FailedJob]
    causes: list[FailureCause]
    notes: list[str]


class BenchVerify(_Table):
    """Whether a run or a pack is intact."""

    schema: Literal["vuskit-bench-verify-1"]
    vuskit: str
    files: Count
    values: Count
    results: Count
    skipped: Count
    earlier: Count
    stored_buffers: Count
    members: Count
    without_scores: bool
    code: list[str]
    problems: list[str]
    broken: list[str]
    jobs_to_run_again: Count


_BenchTable: TypeAlias = list[Annotated[Record, Meta(extra_json_schema={"required": ["detector"]})]]


# -- evaluate and compare ----------------------------------------------------------------------


class EvaluatedSeries(_Table):
    """The series of an evaluation."""

    name: str
    points: Positive
    anomalies: Count
    anomalous_points: Count
    times: Annotated[
        tuple[str, str] | None, Meta(description="First and last time; null: unknown.")
    ]


class UsedSettings(_Table):
    """Settings of an evaluation."""

    buffer: Annotated[int, Meta(ge=0, description="null: no buffer was found.")] | None
    buffer_strategy: str
    buffer_reason: str
    thresholds: Annotated[int, Meta(ge=2, description="null: every distinct score.")] | None
    definition: Literal["journal", "pvldb2022", "timeeval"]
    step: Annotated[int, Meta(ge=1, description="Step between the buffer lengths of VUS.")]
    side: Annotated[Literal["both", "before", "after"], Meta(description="Sides with a buffer.")]
    threshold: str | float
    k: (
        Annotated[
            int, Meta(ge=1, description="k of Precision@k; null: the number of anomalous points.")
        ]
        | None
    )


class Chance(_Table):
    """Random scores for the chance level."""

    draws: Positive
    seed: Count


class EvaluatedMeasure(_Table):
    """A measure of an evaluation."""

    name: str
    title: str
    family: str
    chance: Number
    chance_std: Number


class EvaluatedScore(_Table):
    """Values of one score."""

    name: str
    values: Values
    adjusted: Values | None


class EvaluationOutput(_Table):
    """An evaluation."""

    schema: Literal["vuskit-evaluation-1"]
    vuskit: Annotated[str, Meta(description="Version that computed the values.")]
    series: EvaluatedSeries
    settings: UsedSettings
    chance: Chance | None
    measures: Some[EvaluatedMeasure]
    scores: Some[EvaluatedScore]


class SavedValue(_Table):
    """Value of a score on one of several series; null if it failed or is undefined."""

    dataset: str
    series: str
    detector: str
    measure: str
    value: Number
    buffer: Count | None
    buffer_reason: str | None
    status: str


class EvaluationsOutput(_Table):
    """An evaluation of several series."""

    schema: Literal["vuskit-evaluations-1"]
    vuskit: str
    folder: Annotated[str | None, Meta(description="The run folder of --output.")]
    detectors: list[str]
    datasets: list[str]
    measures: Annotated[dict[str, str], Meta(description="Titles by name.")]
    cells: list[BoardCell]
    values: list[SavedValue]
    failures: dict[str, str]
    notes: list[str]


class Friedman(_Table):
    """Friedman's test."""

    statistic: Number
    p_value: Number
    effect_size: Number


class ComparedDetector(_Table):
    """A detector of a comparison."""

    name: str
    mean: Number
    median: Number
    mean_rank: float
    lower: float
    upper: float


class ComparedPair(_Table):
    """Two detectors of a comparison."""

    first: str
    second: str
    p_raw: Number
    p_adjusted: Share
    significant: bool
    difference: Number
    rank_biserial: Number
    cliffs_delta: Number
    cohens_d: Number


class ComparisonOutput(_Table):
    """A comparison of detectors."""

    schema: Literal["vuskit-comparison-1"]
    vuskit: str
    measure: str
    higher_is_better: bool
    rows: Count
    rows_dropped: Count
    rows_in_means: Annotated[
        int, Meta(ge=0, description="Rows with a value of all detectors; used for mean and median.")
    ]
    alpha: Share
    test: str
    correction: str
    critical_difference: Number
    smallest_p_value: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Smallest corrected p-value that this number of rows and columns allows; "
            "if it is not below alpha, no pair can be significant.",
        ),
    ]
    rows_needed: Annotated[
        int | None,
        Meta(description="Smallest number of rows with which a pair can be significant."),
    ]
    friedman: Friedman | None
    detectors: Annotated[list[ComparedDetector], Meta(min_length=2)]
    pairs: Some[ComparedPair]
    groups: list[Annotated[list[str], Meta(min_length=2)]]
    cells: Annotated[list[BoardCell], Meta(description="The table of means.")]


# -- studies and the demo ----------------------------------------------------------------------


class StudiedMeasure(_Table):
    """Values of a measure in a study."""

    name: str
    title: str
    values: Values


class StudyFailure(_Table):
    """Series on which a study failed."""

    name: str
    reason: str


class StudyOutput(_Table):
    """Result of a study."""

    study: str
    measures: Some[StudiedMeasure]
    failures: list[StudyFailure]
    facts: dict[str, Any]
    options: dict[str, str]
    files: SomeTexts


class PublishedOutput(_Table):
    """Comparison of studies with published values."""

    means: list[dict[str, Any]]
    agreement: list[dict[str, Any]]
    sources: dict[str, str]
    files: SomeTexts


class StudiesOutput(_Table):
    """Results of studies."""

    schema: Literal["vuskit-studies-1"]
    vuskit: str
    studies: Some[StudyOutput]
    published: PublishedOutput | UnsetType = UNSET


class TimingOutput(_Table):
    """Execution times."""

    schema: Literal["vuskit-timing-1"]
    vuskit: str
    generated: bool
    cells: Some[
        Annotated[Record, Meta(extra_json_schema={"required": ["contestant", "median", "runs"]})]
    ]
    parameters: list[Record]
    ratios: list[Record]
    joint_slopes: list[Record]
    dropped: list[str]
    environment: dict[str, Any]
    files: SomeTexts
    slopes: list[Record] | UnsetType = UNSET
    exponents: list[Record] | UnsetType = UNSET


class PaperExhibit(_Table):
    """A figure or table of the paper."""

    exhibit: str
    title: str
    caption: Annotated[str, Meta(description="Caption about this data.")]
    reason: Annotated[str, Meta(description="Why it could not be made; empty if it was.")]
    files: list[str]


class PaperFinding(_Table):
    """Statement of the paper and its check."""

    number: Positive
    paper: str
    measured: str
    verdict: Literal["agrees", "disagrees", "undecided", "not checked"]
    n_series: Count


class PaperOutput(_Table):
    """Exhibits and findings of a reproduction of the paper."""

    schema: Literal["vuskit-paper-1"]
    vuskit: str
    folder: str
    page: str
    exhibits: Some[PaperExhibit]
    findings: Some[PaperFinding]
    notes: list[str]
    published: PublishedOutput | UnsetType = UNSET


class DemoDetector(_Table):
    """A detector of the demo."""

    detector: str
    means: Annotated[dict[str, float], Meta(description="Over the series, by measure.")]
    wins: Annotated[int, Meta(ge=0, description="Series on which its VUS-PR is highest.")]
    seconds: Annotated[Number, Meta(description="Median time to fit and score.")]


class DemoFiles(_Table):
    """Paths of the files of the demo."""

    folder: str
    page: str
    picture: str
    run: str
    studies: str
    scores: str
    plan: str


class DemoOutput(_Table):
    """Results of the demo."""

    schema: Literal["vuskit-demo-1"]
    vuskit: str
    series: Annotated[
        int, Meta(ge=1, description="Smallest number of series in the means of a measure.")
    ]
    failed: Annotated[int, Meta(ge=0, description="Jobs that failed.")]
    detectors: Annotated[
        list[DemoDetector],
        Meta(min_length=1, description="From the best to the worst by VUS-PR."),
    ]
    robustness: Annotated[
        list[Annotated[Record, Meta(extra_json_schema={"required": ["measure"]})]],
        Meta(description="Mean standard deviation of each measure under perturbations."),
    ]
    findings: list[str]
    files: DemoFiles
    next: Annotated[list[str], Meta(description="Commands to try.")]


# -- lists and the installation ----------------------------------------------------------------


class DatasetRecord(_Table):
    """A data set of the catalog."""

    name: str
    title: str
    n_series: int | None
    n_points: Number
    n_anomalies: Number
    license: str | None
    citation: str | None
    home: str | None
    format: str | None
    layout: str | None
    anomalous_points: Number
    url: str | None
    sha256: str | None
    part_of: str | None


class DatasetMeans(_Table):
    """A data set of a folder or a run, described by its series."""

    dataset: str
    n_series: Positive
    mean_length: Annotated[float, Meta(ge=1)]
    mean_anomalies: Annotated[float, Meta(ge=0)]
    mean_anomalous_points: Annotated[float, Meta(ge=0)]
    density: Share


class DetectorRecord(_Table):
    """A registered detector."""

    name: str
    title: str
    parameters: list[str]
    reference: str


class FamilyRecord(_Table):
    """A family of synthetic series."""

    name: str
    title: str
    period: Count
    anomaly_length: Count
    anomaly: str


class MeasureRecord(_Table):
    """A registered measure."""

    name: str
    title: str
    family: str
    lowest: Number
    highest: Number
    higher_is_better: bool
    group: Literal["paper", "extra", "own"]
    paper: bool
    reference: str


class PropertyRecord(_Table):
    """Properties of a measure; null if not declared."""

    name: str
    title: str
    group: Literal["paper", "extra", "own"]
    independent_of_anomalies: bool | None
    threshold_free: bool | None
    sequence_adapted: bool | None
    parameter_free: bool | None


class ReaderRecord(_Table):
    """A file format."""

    name: str
    title: str
    options: str
    layout: str


class StudyRecord(_Table):
    """A registered study."""

    name: str
    title: str
    question: str
    input: Literal["scores", "none", "results", "cases"]
    better: Literal["lower", "higher"]


class ThresholdRecord(_Table):
    """A threshold rule."""

    name: str
    description: str


class SchemaRecord(_Table):
    """A JSON schema."""

    name: str
    title: str
    command: str


class CoreRecord(_Table):
    """The core that computes the kernels; the hint says how to get the native one."""

    name: Literal["native", "numpy"]
    instruction_set: str | None
    hint: str | None


class PartRecord(_Table):
    """An optional library."""

    name: str
    extra: str
    version: str | None
    install: str


class CacheRecord(_Table):
    """The folder of downloaded data sets."""

    folder: str
    writable: bool
    datasets: list[str]


class SelfTest(_Table):
    """Self-test of one setting."""

    settings: str
    values: Count
    passed: bool
    wrong: Values


class DoctorOutput(_Table):
    """State of an installation."""

    schema: Literal["vuskit-doctor-1"]
    vuskit: str
    versions: dict[str, str]
    core: CoreRecord
    parts: list[PartRecord]
    cache: CacheRecord
    self_test: Some[SelfTest]


# -- conformance -------------------------------------------------------------------------------


class MeasureReference(_Table):
    """A measure of the suite."""

    name: str
    title: str
    reference: str


class ConformanceInput(_Table):
    """Labels and scores."""

    name: str
    description: str
    y_true: Some[Literal[0, 1]]
    y_score: Some[float]


class ConformanceCheck(_Table):
    """A measure with options on an input; null: the measure has no value."""

    id: str
    input: str
    measure: str
    options: dict[str, str | int | float | bool]
    expected: Number


class ConformanceSuite(_Table):
    """Inputs and expected values."""

    schema: Literal["vuskit-conformance-1"]
    version: Positive
    vuskit: str
    tolerance: float
    definitions: dict[str, str]
    measures: Some[MeasureReference]
    inputs: Some[ConformanceInput]
    checks: Some[ConformanceCheck]


class MeasureAnswers(_Table):
    """Numbers of answers for a measure."""

    name: str
    right: Count
    wrong: Count
    missing: Count


class WrongAnswerRecord(_Table):
    """An answer that differs from the expected value."""

    id: str
    expected: Number
    got: Number


class ConformanceReportOutput(_Table):
    """Comparison of an implementation with the suite."""

    schema: Literal["vuskit-conformance-check-1"]
    vuskit: str
    implementation: str | None
    version: Positive
    tolerance: float
    passed: bool
    measures: Some[MeasureAnswers]
    wrong: list[WrongAnswerRecord]


# -- the list ---------------------------------------------------------------------------------

_STUDY = "vuskit study robustness|separability|consistency|scenarios|summary|all --json"
_OUTPUTS: tuple[tuple[str, str, str, Any], ...] = (  # name, command, title, type
    (
        "bench_job",
        "vuskit bench run-job RUN KEY --json",
        "One job of a benchmark, run again",
        BenchJob,
    ),
    (
        "bench_leaderboard",
        "vuskit bench leaderboard RUN --json",
        "Means of detectors, the best first",
        BenchLeaderboard,
    ),
    ("bench_plan", "vuskit bench plan PLAN --json", "What a benchmark would run", BenchPlan),
    ("bench_run", "vuskit bench run PLAN --json, also bench retry", "Summary of a run", BenchRun),
    (
        "bench_status",
        "vuskit bench status RUN --json",
        "Progress and failures of a run",
        BenchStatus,
    ),
    (
        "bench_table",
        "vuskit bench export RUN --json; the columns depend on --shape",
        "Values of a benchmark",
        _BenchTable,
    ),
    ("bench_verify", "vuskit bench verify RUN --json", "Whether a run is intact", BenchVerify),
    ("comparison", "vuskit compare TABLE --json", "A comparison of detectors", ComparisonOutput),
    (
        "conformance",
        "vuskit conformance export",
        "Inputs and expected values of all measures",
        ConformanceSuite,
    ),
    (
        "conformance_check",
        "vuskit conformance check RESULTS --json",
        "Comparison of an implementation with the suite",
        ConformanceReportOutput,
    ),
    (
        "data_description",
        "vuskit data describe FOLDER --json",
        "Data sets of a folder or a run",
        Some[DatasetMeans],
    ),
    ("dataset", "vuskit data show NAME --json", "A data set", DatasetRecord),
    ("datasets", "vuskit data list --json", "Data sets", Some[DatasetRecord]),
    ("demo", "vuskit demo --json", "Results and files of the demo", DemoOutput),
    ("detectors", "vuskit list detectors --json", "Detectors", Some[DetectorRecord]),
    ("doctor", "vuskit doctor --json", "State of an installation", DoctorOutput),
    ("evaluation", "vuskit evaluate FILE --json", "An evaluation", EvaluationOutput),
    (
        "evaluations",
        "vuskit evaluate FOLDER --json",
        "An evaluation of several series",
        EvaluationsOutput,
    ),
    (
        "families",
        "vuskit list families --json",
        "Families of synthetic series",
        Some[FamilyRecord],
    ),
    ("measures", "vuskit list measures --json", "Measures", Some[MeasureRecord]),
    ("paper", "vuskit paper DATA --json", "Exhibits and findings of the paper", PaperOutput),
    (
        "properties",
        "vuskit list measures --properties --json",
        "Properties of measures",
        Some[PropertyRecord],
    ),
    ("readers", "vuskit list readers --json", "File formats", Some[ReaderRecord]),
    ("schemas", "vuskit list schemas --json", "Schemas", Some[SchemaRecord]),
    ("studies", _STUDY, "Studies of measures", StudiesOutput),
    ("study_list", "vuskit list studies --json", "Registered studies", Some[StudyRecord]),
    ("thresholds", "vuskit list thresholds --json", "Threshold rules", Some[ThresholdRecord]),
    ("timing", "vuskit study timing --json", "Execution times", TimingOutput),
)


def list_schemas() -> tuple[OutputSchema, ...]:
    """Return the schemas of plans and of all ``--json`` output, sorted by name.

    Examples
    --------
    >>> [entry.name for entry in list_schemas()][:2]
    ['bench_job', 'bench_leaderboard']
    """
    outputs = [
        OutputSchema(name, title, command, functools.partial(_schema_of, kind))
        for name, command, title, kind in _OUTPUTS
    ]
    plan = OutputSchema("plan", "A plan", "a plan of vuskit bench (TOML)", _plan_schema)
    return tuple(sorted([*outputs, plan], key=lambda entry: entry.name))


def _schema_of(kind: Any) -> dict[str, Any]:
    (reference,), parts = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    return {**reference, "$defs": parts}


def _plan_schema() -> dict[str, Any]:
    from vuskit.bench.plan import plan_schema

    return plan_schema()
