"""Anomaly detectors with a common interface: `fit`, `score`, and validated parameters."""

from __future__ import annotations

from vuskit.detectors._values import KEEP, read_values
from vuskit.detectors.adapters import (
    ADAPTERS,
    Adapted,
    AeonDetector,
    FunctionDetector,
    PyODDetector,
    PyODSeriesDetector,
    SklearnDetector,
    adapt,
    find_model_class,
    is_model_name,
)
from vuskit.detectors.base import (
    Detector,
    ModelDetector,
    Progress,
    TrainingProgress,
    Windowed,
    WindowModel,
)
from vuskit.detectors.baselines import Constant, MovingZScore, Random, Values
from vuskit.detectors.deep.ae import AutoEncoder
from vuskit.detectors.deep.cnn import CNN
from vuskit.detectors.deep.lstm_ad import LSTMAD
from vuskit.detectors.iforest import IForest
from vuskit.detectors.lof import LOF
from vuskit.detectors.mp import MP
from vuskit.detectors.norma import NormA
from vuskit.detectors.ocsvm import OCSVM
from vuskit.detectors.pca import PCA
from vuskit.detectors.poly import POLY
from vuskit.detectors.registry import (
    detector_class,
    get_detector,
    list_detectors,
    register_detector,
)

__all__ = [
    "ADAPTERS",
    "CNN",
    "KEEP",
    "LOF",
    "LSTMAD",
    "MP",
    "OCSVM",
    "PCA",
    "POLY",
    "Adapted",
    "AeonDetector",
    "AutoEncoder",
    "Constant",
    "Detector",
    "FunctionDetector",
    "IForest",
    "ModelDetector",
    "MovingZScore",
    "NormA",
    "Progress",
    "PyODDetector",
    "PyODSeriesDetector",
    "Random",
    "SklearnDetector",
    "TrainingProgress",
    "Values",
    "WindowModel",
    "Windowed",
    "adapt",
    "detector_class",
    "find_model_class",
    "get_detector",
    "is_model_name",
    "list_detectors",
    "read_values",
    "register_detector",
]
