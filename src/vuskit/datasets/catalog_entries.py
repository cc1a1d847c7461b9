"""The catalog's entries; numbers are means per series as the VUS paper's table gives them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ENTRIES", "DatasetInfo"]


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a data set.

    Attributes
    ----------
    name, title : str
        The word for `fetch`, and what the series are.
    n_series : int
        Number of series.
    n_points, n_anomalies, anomalous_points : float or None
        Means per series, as the VUS paper gives them; None for collections of data sets.
    licence, citation, home : str
        Terms as their owners state them, whom to cite, where it comes from.
    format, layout : str
        Name of the reader, and what the unpacked folder looks like.
    url, sha256 : str or None
        Address of an archive that its owners publish, and its checksum if they publish one.
    part_of : str or None
        A data set of this catalog whose archive contains this one.
    """

    name: str
    title: str
    n_series: int
    n_points: float | None
    n_anomalies: float | None
    anomalous_points: float | None
    licence: str
    citation: str
    home: str
    format: str
    layout: str
    url: str | None = None
    sha256: str | None = None
    part_of: str | None = None


_OUT = "TSB-UAD form: {}/*.out, value,label per line"
_AD = "{}/<nr>_<data set>_id_<k>_<domain>_tr_<train>_1st_<first>.csv: {}, Label"

ENTRIES = (
    DatasetInfo(
        name="Dodgers",
        title="Traffic of a Los Angeles freeway ramp; games and gaps in the record",
        n_series=1,
        n_points=50_400,
        n_anomalies=133.0,
        anomalous_points=5612.0,
        licence="UCI repository; CC BY 4.0",
        citation="Ihler, Hutchins, Smyth: Adaptive event detection with time-varying Poisson "
        "processes. KDD 2006. doi:10.1145/1150402.1150428",
        home="https://archive.ics.uci.edu/dataset/157/dodgers+loop+sensor",
        format="tsb_uad",
        layout=_OUT.format("Dodgers"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="SED",
        title="Simulated engine disk, NASA rotor dynamics laboratory",
        n_series=1,
        n_points=100_000,
        n_anomalies=75.0,
        anomalous_points=3750.0,
        licence="none stated",
        citation="Abdul-Aziz, Woike, Oza, Matthews, Lekki: Rotor health monitoring combining spin "
        "tests and data-driven anomaly detection methods. Structural Health Monitoring, 2012. "
        "doi:10.1177/1475921710395811",
        home="https://github.com/TheDatumOrg/VUS",
        format="tsb_uad",
        layout=_OUT.format("SED"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="ECG",
        title="Electrocardiograms with premature ventricular beats (MBA)",
        n_series=52,
        n_points=230_351,
        n_anomalies=195.6,
        anomalous_points=15_634.0,
        licence="ODC-By 1.0 (MIT-BIH, PhysioNet)",
        citation="Goldberger et al.: PhysioBank, PhysioToolkit, and PhysioNet. Circulation 101, "
        "2000. doi:10.1161/01.CIR.101.23.e215",
        home="https://physionet.org/content/mitdb/",
        format="tsb_uad",
        layout=_OUT.format("ECG"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="IOPS",
        title="Performance indicators of web services (AIOps challenge 2018)",
        n_series=58,
        n_points=102_119,
        n_anomalies=46.5,
        anomalous_points=2312.3,
        licence="MIT (NetManAIOps/KPI-Anomaly-Detection)",
        citation="AIOps Challenge 2018: KPI anomaly detection",
        home="https://github.com/NetManAIOps/KPI-Anomaly-Detection",
        format="tsb_uad",
        layout=_OUT.format("IOPS"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="KDD21",
        title="UCR anomaly archive: one anomaly in each series",
        n_series=250,
        n_points=77_415,
        n_anomalies=1.0,
        anomalous_points=196.5,
        licence="none stated",
        citation="Keogh, Dutta Roy, Naik, Agrawal: Multi-dataset time-series anomaly detection "
        "competition. SIGKDD 2021",
        home="https://www.cs.ucr.edu/~eamonn/time_series_data_2018/",
        format="ucr",
        layout="<id>_UCR_Anomaly_<name>_<train end>_<start>_<stop>.txt, one value per line",
        url="https://www.cs.ucr.edu/~eamonn/time_series_data_2018/"
        "UCR_TimeSeriesAnomalyDatasets2021.zip",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="MGAB",
        title="Mackey-Glass series with spliced anomalies (synthetic)",
        n_series=10,
        n_points=100_000,
        n_anomalies=10.0,
        anomalous_points=200.0,
        licence="CC0 1.0",
        citation="Thill, Konen, Baeck: The Mackey-Glass anomaly benchmark. Zenodo, 2020. "
        "doi:10.5281/zenodo.3762385",
        home="https://github.com/MarkusThill/MGAB",
        format="table",
        layout="MGAB-master/<1..10>.csv: time, value, is_anomaly, is_ignored",
        url="https://github.com/MarkusThill/MGAB/archive/refs/heads/master.zip",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="NAB",
        title="Numenta anomaly benchmark: cloud metrics, clicks, traffic, tweets",
        n_series=58,
        n_points=6301,
        n_anomalies=2.0,
        anomalous_points=575.5,
        licence="MIT (older releases AGPL-3.0)",
        citation="Ahmad, Lavin, Purdy, Agha: Unsupervised real-time anomaly detection for "
        "streaming data. Neurocomputing 262, 2017. doi:10.1016/j.neucom.2017.04.070",
        home="https://github.com/numenta/NAB",
        format="nab",
        layout="NAB-master/data/<group>/<name>.csv, NAB-master/labels/combined_windows.json; the "
        "rest of the repository is no data: read_series(folder, format='nab')",
        url="https://github.com/numenta/NAB/archive/refs/heads/master.zip",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="NASA-MSL",
        title="Telemetry of the Curiosity rover",
        n_series=27,
        n_points=2730,
        n_anomalies=1.33,
        anomalous_points=286.3,
        licence="BSD-style (Caltech/JPL); keep the notice",
        citation="Hundman et al.: Detecting spacecraft anomalies using LSTMs and nonparametric "
        "dynamic thresholding. KDD 2018. doi:10.1145/3219819.3219845",
        home="https://github.com/khundman/telemanom",
        format="telemanom",
        layout="test/<channel>.npy, train/<channel>.npy, labeled_anomalies.csv",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="NASA-SMAP",
        title="Telemetry of the soil moisture satellite SMAP",
        n_series=54,
        n_points=8066,
        n_anomalies=1.26,
        anomalous_points=1032.4,
        licence="BSD-style (Caltech/JPL); keep the notice",
        citation="Hundman et al.: Detecting spacecraft anomalies using LSTMs and nonparametric "
        "dynamic thresholding. KDD 2018. doi:10.1145/3219819.3219845",
        home="https://github.com/khundman/telemanom",
        format="telemanom",
        layout="test/<channel>.npy, train/<channel>.npy, labeled_anomalies.csv",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="SensorScope",
        title="Environmental sensors: temperature, humidity, radiation (EPFL)",
        n_series=23,
        n_points=27_038,
        n_anomalies=11.2,
        anomalous_points=6110.4,
        licence="none stated",
        citation="Yao, Sharma, Golubchik, Govindan: Online anomaly detection for sensor systems. "
        "Performance Evaluation 67(11), 2010. doi:10.1016/j.peva.2010.08.018",
        home="https://github.com/TheDatumOrg/TSB-UAD",
        format="tsb_uad",
        layout=_OUT.format("SensorScope"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="YAHOO",
        title="Production traffic of Yahoo, real and synthetic (S5)",
        n_series=367,
        n_points=1561,
        n_anomalies=5.9,
        anomalous_points=10.7,
        licence="Yahoo Webscope agreement; may not be passed on",
        citation="Laptev, Amizadeh, Billawala: S5, a labeled anomaly detection dataset, 2015",
        home="https://webscope.sandbox.yahoo.com/catalog.php?datatype=s&did=70",
        format="tsb_uad",
        layout=_OUT.format("YAHOO"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="TSB-UAD",
        title="TSB-UAD, public part: the data sets of the VUS paper and more, in one form",
        n_series=1980,
        n_points=None,
        n_anomalies=None,
        anomalous_points=None,
        licence="Apache-2.0 for the collection; each source keeps its own terms",
        citation="Paparrizos, Kang, Boniol, Tsay, Palpanas, Franklin: TSB-UAD: an end-to-end "
        "benchmark suite for univariate time-series anomaly detection. PVLDB 15(8), 2022. "
        "doi:10.14778/3529337.3529354",
        home="https://github.com/TheDatumOrg/TSB-UAD",
        format="tsb_uad",
        layout=_OUT.format("TSB-UAD-Public/<data set>"),
        url="https://www.thedatum.org/datasets/TSB-UAD-Public.zip",
    ),
    DatasetInfo(
        name="TSB-AD-U",
        title="TSB-AD, univariate: curated from 23 data sets",
        n_series=870,
        n_points=None,
        n_anomalies=None,
        anomalous_points=None,
        licence="Apache-2.0 for the curation; each source keeps its own terms",
        citation="Liu, Paparrizos: The elephant in the room: towards a reliable time-series "
        "anomaly detection benchmark. NeurIPS 2024",
        home="https://thedatumorg.github.io/TSB-AD/",
        format="tsb_ad",
        layout=_AD.format("TSB-AD-U", "Data"),
        url="https://www.thedatum.org/datasets/TSB-AD-U.zip",
    ),
    DatasetInfo(
        name="TSB-AD-M",
        title="TSB-AD, multivariate: curated from 17 data sets",
        n_series=200,
        n_points=None,
        n_anomalies=None,
        anomalous_points=None,
        licence="Apache-2.0 for the curation; each source keeps its own terms",
        citation="Liu, Paparrizos: The elephant in the room: towards a reliable time-series "
        "anomaly detection benchmark. NeurIPS 2024",
        home="https://thedatumorg.github.io/TSB-AD/",
        format="tsb_ad",
        layout=_AD.format("TSB-AD-M", "channels"),
        url="https://www.thedatum.org/datasets/TSB-AD-M.zip",
    ),
)
