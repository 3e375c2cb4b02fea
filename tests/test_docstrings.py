"""Every public name says what its parameters are, and has an example that does what it shows."""

import ast
import dataclasses
import doctest
import inspect
import textwrap

import jax
import jax.numpy as jnp
import pytest

import merlax
from merlax.algorithms import presets
from merlax.envs import registry


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Examples write here, one after the other, and what they register is forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("examples"))
        patch.setattr(registry, "_WORLDS", {**registry._WORLDS})
        patch.setattr(presets, "_REGISTERED", {**presets._REGISTERED})
        yield


@pytest.fixture(scope="module")
def tiny(folder):
    """The run of the first example."""
    play("train")


def play(name: str) -> None:
    text = inspect.getdoc(getattr(merlax, name)) or ""
    names = {"merlax": merlax, "jax": jax, "jnp": jnp}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    assert test.examples, f"merlax.{name} has no example"
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in merlax.__all__ if name != "train"])
def test_an_example_does_what_it_shows(name, tiny):
    play(name)


@pytest.mark.parametrize("name", merlax.__all__)
def test_every_parameter_is_described(name):
    found = getattr(merlax, name)
    text = inspect.getdoc(found) or ""
    if "__init__" in vars(found) and "def __init__" in inspect.getsource(found):
        wanted = set(inspect.signature(found).parameters)
    elif inspect.isclass(found):
        wanted = _own_fields(found) if dataclasses.is_dataclass(found) else set()
    else:
        wanted = set(inspect.signature(found).parameters)
    assert not [parameter for parameter in wanted if f"{parameter}: " not in text]


def _own_fields(cls: type) -> set[str]:
    """Fields without a docstring of their own, but for parts, whose classes have one."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    described = {
        field.target.id
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr)
    }
    own = {each for each in cls.__annotations__ if each in {field.name for field in dataclasses.fields(cls)}}
    return own - described - {"learner", "learners", "tuning"}
