"""Anomaly detectors with a common interface: `fit`, `score`, and validated parameters."""

from __future__ import annotations

from vuskit.detectors._values import KEEP
from vuskit.detectors.adapters import (
    AeonDetector,
    FunctionDetector,
    PyODDetector,
    PyODSeriesDetector,
    SklearnDetector,
    adapt,
)
from vuskit.detectors.base import (
    Detector,
    ModelDetector,
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
    get_detector,
    list_detectors,
    register_detector,
)

__all__ = [
    "CNN",
    "KEEP",
    "LOF",
    "LSTMAD",
    "MP",
    "OCSVM",
    "PCA",
    "POLY",
    "AeonDetector",
    "AutoEncoder",
    "Constant",
    "Detector",
    "FunctionDetector",
    "IForest",
    "ModelDetector",
    "MovingZScore",
    "NormA",
    "PyODDetector",
    "PyODSeriesDetector",
    "Random",
    "SklearnDetector",
    "Values",
    "WindowModel",
    "Windowed",
    "adapt",
    "get_detector",
    "list_detectors",
    "register_detector",
]
