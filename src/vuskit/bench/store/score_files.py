"""Score files: written under a temporary name, made durable, then renamed."""

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
    """The ``.npy`` files of a run folder, named by the digest of what they hold.

    Parameters
    ----------
    folder : Path
        The run folder; files go to ``scores/`` below it.

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
        """Folder for temporary files of this object, created when first asked for."""
        if self._scratch is None or not self._scratch.is_dir():
            self._run_folder.mkdir(parents=True, exist_ok=True)
            self._scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=self._run_folder))
        return self._scratch

    def path(self, digest: str) -> Path:
        """Where the scores with this digest are.

        Raises
        ------
        InvalidInputError
            If it is no digest: the path could be anywhere then.
        """
        if not _DIGEST.fullmatch(digest):
            raise InvalidInputError(
                f"`digest` must be 64 hexadecimal digits, got {digest[:80]!r}; "
                "the database of the run was changed or damaged"
            )
        return self.folder / digest[:2] / f"{digest}.npy"

    def write(self, scores: NDArray[np.float64]) -> str:
        """Store scores and return their digest; when this returns, they are on the disk.

        Raises
        ------
        OSError
            If the disk is full or read-only; no part of the file remains then.
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
        """Remove temporary files, also those that killed runs left; only the writer may do so."""
        for folder in self._run_folder.glob(f"{_SCRATCH}*"):
            shutil.rmtree(folder, ignore_errors=True)
        self._scratch = None


def _write_npy(stream: BinaryIO, array: NDArray[np.float64]) -> None:
    """As ``np.save``, which hides the reason when a disk is full."""
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(stream, header)
    stream.write(array.data)
