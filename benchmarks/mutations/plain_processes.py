"""Pytest plugin: processes that tests start run compiled functions as plain Python.

In the process of the tests PyTensor and other libraries go on compiling: Numba reads the variable
once more, and is then told so.
"""

import os
from typing import Any, cast

from numba.core import config

os.environ["NUMBA_DISABLE_JIT"] = "1"
cast(Any, config).reload_config()
cast(Any, config).DISABLE_JIT = 0
