"""Pytest plugin: processes that tests start run compiled functions as plain Python.

Numba reads the variable again when it compiles: with it a test fails whose libraries compile.
"""

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"
