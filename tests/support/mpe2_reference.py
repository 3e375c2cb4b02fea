"""Episodes recorded from mpe2, the maintained copy of the particle worlds (Lowe et al. 2017)."""

import copy
import dataclasses
import functools

import numpy as np
from mpe2 import simple_adversary_v3, simple_push_v3, simple_tag_v3
from mpe2._mpe_utils.simple_env import SimpleEnv
from mpe2.simple_push.simple_push import Scenario

from merlax.envs import make

EPISODES = (
    60  # a third at random, a third in which everybody chases a body, a third in which everybody goes for a landmark
)


@dataclasses.dataclass(frozen=True)
class Recording:
    """[episode, time, ...] in mpe2's double precision; bodies in mpe2's order."""

    position: np.ndarray  # [episode, time + 1, body, 2]
    velocity: np.ndarray
    landmark: np.ndarray  # [episode, landmark, 2]
    target: np.ndarray  # [episode]
    action: np.ndarray  # [episode, time, body, 2] in [-1, 1]
    obs: list[np.ndarray]  # of each body: [episode, time + 1, obs]
    reward: np.ndarray  # [episode, time, body]
    truncated: np.ndarray  # [episode, time]
    terminated: np.ndarray


def tag(predators: int = 3, obstacles: int = 2, prey_speed: float = 1.3):
    env = simple_tag_v3.raw_env(num_adversaries=predators, num_obstacles=obstacles, continuous_actions=True)
    env.world.agents[-1].max_speed = prey_speed
    return env


def deception(agents: int = 2):
    return simple_adversary_v3.raw_env(N=agents, continuous_actions=True)


def push(agents: int = 1):
    """mpe2's world has one good agent; its rules are written for any number, so that more can be put into it."""
    if agents == 1:
        return simple_push_v3.raw_env(continuous_actions=True)
    scenario = Scenario()
    world = scenario.make_world()
    for number in range(1, agents):
        world.agents.append(copy.deepcopy(world.agents[1]))
        world.agents[-1].name = f"agent_{number}"
    return SimpleEnv(scenario=scenario, world=world, max_cycles=25, continuous_actions=True)


# Our world and mpe2's, by a name for the test's report.
PAIRS = {
    "predator-prey": (lambda: make("predator-prey"), tag),
    "predator-prey-hard": (lambda: make("predator-prey-hard"), lambda: tag(prey_speed=2.0)),
    "predator-prey 2×3": (lambda: make("predator-prey", num_predators=2, num_landmarks=3), lambda: tag(2, 3)),
    "predator-prey 5×5": (lambda: make("predator-prey", num_predators=5, num_landmarks=5), lambda: tag(5, 5)),
    "physical-deception": (lambda: make("physical-deception"), deception),
    "physical-deception 3": (lambda: make("physical-deception", num_agents=3), lambda: deception(3)),
    "physical-deception 5": (lambda: make("physical-deception", num_agents=5), lambda: deception(5)),
    "keep-away 1": (lambda: make("keep-away", num_agents=1), push),
    "keep-away": (lambda: make("keep-away"), lambda: push(2)),
    "keep-away 5": (lambda: make("keep-away", num_agents=5), lambda: push(5)),
}


@functools.cache
def record(name: str) -> Recording:
    """The same episodes every time: mpe2 plays actions that lead to all that can happen."""
    env, rng = PAIRS[name][1](), np.random.default_rng(7)
    episodes = [_episode(env, rng, number) for number in range(EPISODES)]
    fields = {key: [episode[key] for episode in episodes] for key in episodes[0]}
    obs = [np.stack(body) for body in zip(*fields.pop("obs"), strict=True)]
    return Recording(obs=obs, **{key: np.stack(value) for key, value in fields.items()})


def _episode(env, rng, number):
    env.reset(seed=number)
    world, names = env.world, env.possible_agents
    goal = getattr(world.agents[0], "goal_a", world.landmarks[0])
    keep = {key: [] for key in ("position", "velocity", "action", "reward", "truncated", "terminated")}
    obs = [[] for _ in names]

    def look():
        keep["position"].append([agent.state.p_pos.copy() for agent in world.agents])
        keep["velocity"].append([agent.state.p_vel.copy() for agent in world.agents])
        for body, agent in enumerate(world.agents):
            obs[body].append(env.scenario.observation(agent, world))

    look()
    for _ in range(25):
        action = _choose(rng, np.array(keep["position"][-1]), goal.state.p_pos, number)
        for agent in range(len(names)):
            env.step(_five(action[agent]))
        look()
        keep["action"].append(action)
        keep["reward"].append([env.rewards[name] for name in names])
        keep["truncated"].append(all(env.truncations.values()))
        keep["terminated"].append(any(env.terminations.values()))
    landmark = np.array([landmark.state.p_pos for landmark in world.landmarks])
    return {**keep, "landmark": landmark, "target": world.landmarks.index(goal), "obs": [np.array(o) for o in obs]}


def _choose(rng, position, goal, number):
    """Actions of all bodies, [body, 2], in single precision."""
    action = rng.uniform(-1.0, 1.0, position.shape)
    if number % 3:
        way = (position[-1] if number % 3 == 1 else goal) - position
        action = np.clip(4.0 * way + 0.3 * action, -1.0, 1.0)
    return action.astype(np.float32)


def _five(action):
    """mpe2's numbers in [0, 1]: nothing, left, right, down, up."""
    x, y = action
    return np.array([0.0, max(-x, 0.0), max(x, 0.0), max(-y, 0.0), max(y, 0.0)], np.float32)
