"""Optional packages, named with the command that installs them where they are missing."""

from importlib import import_module
from types import ModuleType

__all__ = ["load_extra", "missing_extra"]


def load_extra(module: str, extra: str) -> ModuleType:
    """Return an optional module.

    module: its name.
    extra: the extra of bayesduel that installs it.
    Raises ModuleNotFoundError if it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_extra(module, extra) from error


def missing_extra(module: str, extra: str) -> ModuleNotFoundError:
    """Return the error for an optional module that is not installed."""
    return ModuleNotFoundError(
        f"{module} should be installed for this: pip install 'bayesduel[{extra}]' (in the folder "
        f"of a checkout: pip install '.[{extra}]')",
        name=module,
    )
