"""Trees on disk: which reader opens them.

The reader is named here, so that nothing in a file chooses one. Zarr is read in its format 3, none
of whose codecs runs what is stored.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DAMAGED", "ZARR_FORMAT", "open_datatree"]

ZARR_FORMAT: Literal[3] = 3
# What making something of stored settings raises where they are not as they were stored.
DAMAGED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def open_datatree(path: Path) -> "xr.DataTree":
    """Return the tree in a NetCDF file or a Zarr folder; its arrays stay on disk.

    Raises
    ------
    Exception
        Of any kind, where it is damaged or something else.
    """
    import xarray as xr

    if path.is_dir():
        return xr.open_datatree(path, engine="zarr", consolidated=False, zarr_format=ZARR_FORMAT)
    return xr.open_datatree(path, engine="h5netcdf")
