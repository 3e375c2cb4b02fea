"""JAX in its strictest mode, two devices, and shapes and types checked at run time."""

import os
import tempfile

# Compiling takes most of the suite's time: compile without optimisation, and each program once, whichever process of
# this suite needs it. What the user has compiled is left alone.
_QUICK = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
if "PYTEST_XDIST_WORKER" not in os.environ:  # else the environment says all this already
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_QUICK}"
    _compiled = tempfile.TemporaryDirectory(prefix="merlax-tests-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = _compiled.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"

import jax
import jaxtyping
import optax.tree
import pytest
from jax.experimental.key_reuse import _core as key_reuse

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_debug_key_reuse", True)
jax.config.update("jax_num_cpu_devices", 2)
jax.devices()  # starts JAX, so that importing merlax no longer changes the number of devices

jaxtyping.install_import_hook("merlax", "beartype.beartype")

# The checker knows no transpose, though `vmap` over a scan transposes its keys, and takes them for used.
key_reuse.key_reuse_signatures[jax.lax.transpose_p] = key_reuse.KeyReuseSignature(key_reuse.Forward(0, 0))

_bias_correction = optax.tree.bias_correction


def _lenient_bias_correction(*args, **kwargs):
    """Adam raises a Python float to an integer power, which strict promotion refuses: optax's affair, not ours."""
    with jax.numpy_dtype_promotion("standard"):
        return _bias_correction(*args, **kwargs)


optax.tree.bias_correction = _lenient_bias_correction


@pytest.fixture
def unchecked():
    """No run-time type checks: a user's mistake must meet our own sentence."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def nursery():
    """Starts merlax in processes of its own."""
    from tests.nursery import Nursery

    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def refuses(capsys, tmp_path, monkeypatch):
    """That the command line answers bad input with one sentence and code 2, and writes nothing."""
    from merlax import cli

    monkeypatch.chdir(tmp_path)

    def check(args, sentence):
        assert cli.main(args) == 2
        error = capsys.readouterr().err
        assert error.startswith("merlax: ")
        assert sentence in error
        assert error.count("\n") == 1
        assert not list(tmp_path.iterdir())

    return check
