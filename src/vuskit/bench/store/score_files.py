"""Score files: written to a temporary name, synced to disk, then renamed."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from vuskit._util.files import PRIVATE_PREFIX, atomic_path
from vuskit.bench.identity import scores_digest
from vuskit.errors import InvalidInputError

__all__ = ["ScoreFiles"]

_SCRATCH = f"{PRIVATE_PREFIX}tmp-"
_DIGEST = re.compile("[0-9a-f]{64}")


class ScoreFiles:
    """The ``.npy`` files of a run folder, named by the digest of their content.

    Parameters
    ----------
    folder : Path
        The run folder; files are in its subfolder ``scores/``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> files = ScoreFiles(pathlib.Path(tempfile.mkdtemp()))
    >>> digest = files.write(np.array([0.5, 2.0]))
    >>> np.load(files.path(digest))
    array([0.5, 2. ])
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "scores"
        self._run_folder = folder
        self._scratch: Path | None = None

    @property
    def scratch(self) -> Path:
        """Folder for temporary files, created when first needed."""
        if self._scratch is None or not self._scratch.is_dir():
            self._run_folder.mkdir(parents=True, exist_ok=True)
            self._scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=self._run_folder))
        return self._scratch

    def path(self, digest: str) -> Path:
        """Path of the scores with this digest.

        Raises
        ------
        InvalidInputError
            If `digest` is invalid, so that the path could be anywhere.
        """
        if not _DIGEST.fullmatch(digest):
            raise InvalidInputError(
                f"`digest` must be 64 hexadecimal digits, got {digest[:80]!r}; "
                "the database of the run is damaged: restore a copy"
            )
        return self.folder / digest[:2] / f"{digest}.npy"

    def write(self, scores: NDArray[np.float64]) -> str:
        """Store scores durably and return their digest.

        Raises
        ------
        OSError
            If the disk is full or read-only; no partial file remains.
        """
        digest = scores_digest(scores)
        final = self.path(digest)
        if final.exists():
            return digest
        final.parent.mkdir(parents=True, exist_ok=True)
        with (
            atomic_path(final, durable=True, scratch=self.scratch) as temporary,
            temporary.open("wb") as stream,
        ):
            _write_npy(stream, np.ascontiguousarray(scores, dtype="<f8"))
        return digest

    def clean(self) -> None:
        """Remove temporary files, including those of killed runs. Only the writer may call this."""
        for folder in self._run_folder.glob(f"{_SCRATCH}*"):
            shutil.rmtree(folder, ignore_errors=True)
        self._scratch = None


def _write_npy(stream: BinaryIO, array: NDArray[np.float64]) -> None:
    """Like ``np.save``, but report the reason if the disk is full."""
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(stream, header)
    stream.write(array.data)
