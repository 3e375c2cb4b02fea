"""Importing merlax changes nothing: whoever uses JAX for something else beside it does not notice."""

import subprocess
import sys

import pytest

QUIET_IMPORT = """
import os
import signal
import sys
import jax

handler = signal.getsignal(signal.SIGINT)
os.environ.pop("XDG_CACHE_HOME", None)
before, environment = dict(jax.config.values), dict(os.environ)
import merlax
import merlax.cli
from jax._src import xla_bridge

assert not xla_bridge.backends_are_initialized(), "JAX was started"
changed = {name for name, value in jax.config.values.items() if before.get(name, value) != value}
assert not changed, changed
for name in ("jax_num_cpu_devices", "jax_compilation_cache_dir"):
    assert name in jax.config.values
assert dict(os.environ) == environment
assert sys.unraisablehook is sys.__unraisablehook__
assert signal.getsignal(signal.SIGINT) is handler
"""


@pytest.mark.slow
def test_importing_merlax_changes_nothing_of_jax_or_python():
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", QUIET_IMPORT], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == ""
