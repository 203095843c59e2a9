"""Trees on disk: which reader opens them.

The reader is named here, so that nothing in a file chooses one. Zarr is read in its format 3, none
of whose codecs runs what is stored. A NetCDF file of the package ends in its checksum, since HDF5
has none of the arrays. Programs that change the file leave the checksum out.
"""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DAMAGED", "ZARR_FORMAT", "open_datatree", "seal_of"]

ZARR_FORMAT: Literal[3] = 3  # the current one (zarr-specs, version 3, 2023)
# What making something of stored settings raises where they are not as they were stored.
DAMAGED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
SEAL = b"\nbayesduel sha256 "
SEALED = len(SEAL) + sha256().digest_size
STEP = 2**20  # bytes read at a time


def open_datatree(path: Path) -> "xr.DataTree":
    """Return the tree in a NetCDF file or a Zarr folder; its arrays stay on disk.

    Raises Exception: of any kind, where it is damaged or something else.
    """
    import h5py
    import xarray as xr

    if path.is_dir():
        return xr.open_datatree(path, engine="zarr", consolidated=False, zarr_format=ZARR_FORMAT)
    with open(path, "rb") as file:
        size = max(file.seek(0, 2) - SEALED, 0)
        file.seek(size)
        seal = file.read()
        if seal.startswith(SEAL) and seal != seal_of(file, size):
            raise ValueError("it is damaged: its checksum is another one")
    with h5py.File(path) as tree:  # before h5netcdf, which leaves a file without a root half open
        tree.attrs.get("_nc3_strict")
    return xr.open_datatree(path, engine="h5netcdf")


def seal_of(file: BinaryIO, size: int) -> bytes:
    """Return what a file ends in whose first `size` bytes are these; leave it there."""
    digest = sha256()
    file.seek(0)
    for start in range(0, size, STEP):
        digest.update(file.read(min(STEP, size - start)))
    return SEAL + digest.digest()
