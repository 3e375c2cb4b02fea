"""A team's policy as an ONNX graph: what a world's agents see goes in, what they do comes out.

Where agents are alike, `obs` [batch, agent, size] and, where choices may be forbidden, `legal` [batch, agent, choice]
lead to `action`: [batch, agent, size], or [batch, agent] whole numbers where they choose. Where agents differ, each has
an input `obs_0` [batch, size], perhaps `legal_0`, and an output `action_0`, by its number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from merlax.core import transfer
from merlax.core.networks import TeamPolicy
from merlax.envs.base import Discrete, Side
from merlax.types import UserError

OPSET, IR = 17, 8  # which runtimes since 2022 read
_AGENT, _SIZE = 1, 2  # axes


def build(policy: TeamPolicy, properties: dict[str, str]) -> bytes:
    """The graph, with properties that say what it is, as a file has it."""
    try:
        import onnx
    except ImportError as error:
        raise UserError("onnx is not installed; install it with: pip install 'merlax[onnx]'") from error
    graph, side = _Graph(), transfer.spaces(policy)
    legal = _legal(graph, side) if side.masked else None
    rows = _rows(graph, side)
    if legal is not None:
        rows = graph.add("Concat", rows, legal, axis=_SIZE)
    outputs = _network(graph, policy, rows)
    _act(graph, side, outputs, legal)
    made = onnx.helper.make_graph(graph.nodes, "team", graph.inputs, graph.outputs, graph.constants)
    opset = onnx.helper.make_opsetid("", OPSET)
    model = onnx.helper.make_model(made, producer_name="merlax", opset_imports=[opset], ir_version=IR)
    onnx.helper.set_model_props(model, properties)
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


class _Graph:
    """Inputs, nodes, numbers and outputs, as they are added; a node has the name of what it gives."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def input(self, name: str, *sizes: int, flags: bool = False) -> str:
        self.inputs.append(_value(name, "BOOL" if flags else "FLOAT", sizes))
        return name

    def add(self, operation: str, *inputs: Any, name: str = "", **attributes: Any) -> str:
        """A node; inputs are names, or numbers."""
        import onnx

        name = name or f"{operation.lower()}_{len(self.nodes)}"
        words = [each if isinstance(each, str) else self._constant(np.asarray(each)) for each in inputs]
        self.nodes.append(onnx.helper.make_node(operation, words, [name], name=name, **attributes))
        return name

    def output(self, name: str, value: str, *sizes: int, choice: bool = False) -> None:
        self.add("Identity", value, name=name)
        self.outputs.append(_value(name, "INT64" if choice else "FLOAT", sizes))

    def _constant(self, array: np.ndarray) -> str:
        import onnx

        name = f"constant_{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.array(array, order="C"), name))
        return name


def _value(name: str, kind: str, sizes: tuple[int, ...]) -> Any:
    import onnx

    return onnx.helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), ["batch", *sizes])


def _rows(graph: _Graph, side: Side) -> str:
    """All agents' observations as rows of one width, as `Side.rows` makes them, without what is legal."""
    if side.alike:
        return graph.input("obs", side.num_agents, side.widest)
    width = side.widest + len(side.kinds)
    each = [_widened(graph, graph.input(f"obs_{k}", s.size), s.size, width) for k, s in enumerate(side.obs)]
    flags = np.zeros((side.num_agents, width), np.float32)
    for agent, kind in enumerate(zip(side.obs, side.action, strict=True)):
        flags[agent, side.widest + side.kinds.index(kind)] = 1.0
    return graph.add("Add", _stacked(graph, each), flags)


def _legal(graph: _Graph, side: Side) -> str:
    """What is legal, as rows of 0 and 1; whoever does not choose may do everything that it has."""
    if side.alike:
        return graph.add("Cast", graph.input("legal", side.num_agents, side.act_size, flags=True), to=1)
    each = []
    for agent, space in enumerate(side.action):
        if isinstance(space, Discrete):
            flags = graph.add("Cast", graph.input(f"legal_{agent}", space.size, flags=True), to=1)
        else:
            batch = graph.add("Shape", f"obs_{agent}", end=1)
            shape = graph.add("Concat", batch, np.array([space.size]), axis=0)
            flags = graph.add("Expand", np.ones((1, 1), np.float32), shape)
        each.append(_widened(graph, flags, space.size, side.act_size))
    return _stacked(graph, each)


def _network(graph: _Graph, policy: TeamPolicy, rows: str) -> str:
    """Every agent's outputs, each from its own head."""
    x = rows
    if policy.gain is not None:
        largest = graph.add("Max", graph.add("Abs", x), np.float32(1.0))
        strong = graph.add("Mul", x, np.exp(np.asarray(policy.gain)))
        x = graph.add("Max", graph.add("Min", strong, largest), graph.add("Neg", largest))
    for layer in policy.trunk:
        x = graph.add("Tanh", graph.add("Add", graph.add("MatMul", x, layer.weight), layer.bias))
    weight = np.asarray(policy.heads.weight)
    by_agent = weight.reshape(weight.shape[0], policy.num_agents, -1).transpose(1, 0, 2)
    own = graph.add("MatMul", graph.add("Unsqueeze", x, np.array([_SIZE])), by_agent)
    bias = np.asarray(policy.heads.bias).reshape(policy.num_agents, -1)
    return graph.add("Tanh", graph.add("Add", graph.add("Squeeze", own, np.array([_SIZE])), bias))


def _act(graph: _Graph, side: Side, outputs: str, legal: str | None) -> None:
    """What the agents do, as the world takes it."""
    if side.plain:
        graph.output("action", outputs, side.num_agents, side.act_size)
        return
    possible: Any = np.arange(side.act_size)[None] < np.array([[space.size] for space in side.action])
    if legal is not None:
        possible = graph.add("And", graph.add("Greater", legal, np.float32(0.5)), possible)
    known = graph.add("Where", possible, outputs, np.float32(-np.inf))
    choice = graph.add("ArgMax", known, axis=_SIZE, keepdims=0)
    moved = graph.add("Where", possible, outputs, np.float32(0.0))
    if side.alike:
        sizes = (side.num_agents,) if side.chooses else (side.num_agents, side.act_size)
        graph.output("action", choice if side.chooses else moved, *sizes, choice=side.chooses)
        return
    for agent, space in enumerate(side.action):
        chooses = isinstance(space, Discrete)
        own = graph.add("Gather", choice if chooses else moved, np.array(agent), axis=_AGENT)
        if chooses:
            graph.output(f"action_{agent}", own, choice=True)
        else:
            part = graph.add("Slice", own, np.array([0]), np.array([space.size]), np.array([1]))
            graph.output(f"action_{agent}", part, space.size)


def _widened(graph: _Graph, value: str, size: int, width: int) -> str:
    """A vector with zeros behind it."""
    return graph.add("Pad", value, np.array([0, 0, 0, width - size])) if size < width else value


def _stacked(graph: _Graph, each: list[str]) -> str:
    """One row for each agent."""
    return graph.add("Concat", *(graph.add("Unsqueeze", one, np.array([_AGENT])) for one in each), axis=_AGENT)
