"""Logging of results to MLflow, Weights & Biases and similar experiment trackers."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Mapping
from typing import Any

from vuskit.errors import InvalidInputError

__all__ = ["Loggable"]

_NOT_IN_NAMES = re.compile(r"[^\w\-./ ]+")  # characters that MLflow rejects


class Loggable:
    """Base class of results that can be logged to an experiment tracker."""

    def _metrics(self) -> Mapping[str, float]:
        """Return metrics by name; slashes separate detector, data set and measure."""
        raise NotImplementedError

    def _parameters(self) -> Mapping[str, Any]:
        """Return the settings of the metrics, by name."""
        return {}

    def log_to(
        self,
        target: Any,
        *,
        prefix: str = "",
        step: int | None = None,
        run_id: str | None = None,
    ) -> dict[str, float]:
        """Log the values and their settings to an experiment tracker.

        Missing and non-finite values are skipped. Characters that MLflow rejects in names become
        underscores.

        Parameters
        ----------
        target : object
            The module ``mlflow``, an MLflow run or client, a Weights & Biases run, a Lightning
            logger, or any object with ``log_metrics(metrics)`` or ``log(metrics)``.
        prefix : str, default=""
            Prefix of every name, such as ``"validation/"``.
        step : int, optional
            Training step.
        run_id : str, optional
            Id of the run; required for an MLflow client.

        Returns
        -------
        dict
            The logged metrics.

        Raises
        ------
        InvalidInputError
            If the target cannot log metrics.
        """
        metrics = {
            _name(prefix, name): float(value)
            for name, value in self._metrics().items()
            if value is not None and math.isfinite(value)
        }
        parameters = {
            _name(prefix, name): value
            for name, value in self._parameters().items()
            if value is not None
        }
        _send(target, metrics, parameters, step, run_id)
        return metrics


def _name(prefix: str, name: str) -> str:
    return _NOT_IN_NAMES.sub("_", f"{prefix}{name}").rstrip("_")


def _send(
    target: Any,
    metrics: dict[str, float],
    parameters: dict[str, Any],
    step: int | None,
    run_id: str | None,
) -> None:
    at = {} if step is None else {"step": step}
    known = getattr(getattr(target, "info", None), "run_id", None)
    if _has(target, "log_batch") or known is not None:
        _send_to_mlflow(target, metrics, parameters, step, run_id or known)
    elif _has(target, "log_metrics"):
        target.log_metrics(metrics, **at)
        for method in ("log_params", "log_hyperparams"):
            if parameters and _has(target, method):
                getattr(target, method)(parameters)
                break
    elif _has(target, "log"):
        target.log(metrics, **at)
        config: Any = getattr(target, "config", None)
        if parameters and _has(config, "update"):
            config.update(parameters, allow_val_change=True)
    else:
        raise InvalidInputError(
            "`target` must have a method log_metrics or log, got "
            f"{type(target).__name__}; pass mlflow, an MLflow run or client, or a wandb run"
        )


def _send_to_mlflow(
    target: Any,
    metrics: dict[str, float],
    parameters: dict[str, Any],
    step: int | None,
    run_id: str | None,
) -> None:
    """Log to an MLflow run by its id, through a client."""
    if run_id is None:
        raise InvalidInputError(
            "`run_id` must be the run of the MLflow client, got None; pass run_id="
        )
    client = target
    if not _has(target, "log_metric"):  # run objects cannot log
        client = importlib.import_module("mlflow").MlflowClient()
    for name, value in metrics.items():
        client.log_metric(run_id, name, value, step=step or 0)
    for name, value in parameters.items():
        client.log_param(run_id, name, value)


def _has(target: Any, method: str) -> bool:
    return callable(getattr(target, method, None))
