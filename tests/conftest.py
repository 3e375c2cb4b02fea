"""JAX in its strictest mode, two devices, and shapes and types checked at run time."""

import gc
import os
import shutil
import sys
from pathlib import Path

# Compiling takes most of the suite's time: compile without optimisation, and each program once, whichever process of
# this suite or the next needs it. What the user has compiled is left alone.
_QUICK = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
_COMPILED = Path(__file__).parent.parent / ".cache" / "compiled-by-tests"
if "PYTEST_XDIST_WORKER" not in os.environ:  # else the environment says all this already
    if _COMPILED.exists() and sum(file.stat().st_size for file in _COMPILED.iterdir()) > 500e6:
        shutil.rmtree(_COMPILED)  # most of it by code that has changed since
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_QUICK}"
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(_COMPILED)
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"

# Tracing leaves hundreds of thousands of objects that stay: looking for garbage took over a tenth of the time.
gc.set_threshold(100_000, 20, 20)

import jax
import jaxtyping
import optax.tree
import pytest
from jax.experimental.key_reuse import _core as key_reuse

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_debug_key_reuse", True)
jax.config.update("jax_num_cpu_devices", 2)
jax.devices()  # starts JAX, so that nothing changes the number of devices any more

jaxtyping.install_import_hook("merlax", "beartype.beartype")

# The checker knows no transpose, though `vmap` over a scan transposes its keys, and takes them for used.
key_reuse.key_reuse_signatures[jax.lax.transpose_p] = key_reuse.KeyReuseSignature(key_reuse.Forward(0, 0))

_bias_correction = optax.tree.bias_correction


def _lenient_bias_correction(*args, **kwargs):
    """Adam raises a Python float to an integer power, which strict promotion refuses: optax's affair, not ours."""
    with jax.numpy_dtype_promotion("standard"):
        return _bias_correction(*args, **kwargs)


optax.tree.bias_correction = _lenient_bias_correction


# Whole files go to the workers (`--dist loadfile`), in this order: those first that would keep one busy in the end.
_LONGEST = "examples session_kills ray known_optima_kinds known_optima hosts memory slurm notebook actors".split()


def pytest_collection_modifyitems(items):
    rank = {f"test_{name}": place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """No run-time type checks in slow tests, an eighth of whose time they took; the quick ones have them."""
    jaxtyping.config.update("jaxtyping_disable", item.get_closest_marker("slow") is not None)
    return (yield)


@pytest.fixture
def unchecked():
    """No run-time type checks: a user's mistake must meet our own sentence."""
    jaxtyping.config.update("jaxtyping_disable", True)


@pytest.fixture(scope="session")
def nursery():
    """Starts merlax in processes of its own."""
    from tests.support.nursery import Nursery

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


OWN_MODULE = '''
"""A user's own world, operator and algorithm."""

import dataclasses

import jax

import merlax
from tests.probes.rendezvous import Rendezvous


@dataclasses.dataclass(frozen=True)
class MyWorld(Rendezvous):
    """A place to meet."""

    patience: int = 3
    """Steps that nobody minds."""


@dataclasses.dataclass(frozen=True)
class Shrink:
    """Offspring are smaller than their parents."""

    factor: float = 0.5
    """What every weight is multiplied with."""

    def __call__(self, key, genome):
        return jax.tree.map(lambda weights: self.factor * weights, genome)


@dataclasses.dataclass(frozen=True)
class MyAlgorithm(merlax.Ea):
    """Evolution that shrinks."""

    population: int = 6
    mutation: Shrink = Shrink()
    actor_hidden: tuple[int, ...] = (4,)
    fitness: merlax.Fitness = merlax.Fitness(episodes=1)
'''


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """The name of a module in the current folder, as a user has it: MyWorld, Shrink and MyAlgorithm."""
    name = f"own_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(OWN_MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield name
    sys.modules.pop(name, None)
