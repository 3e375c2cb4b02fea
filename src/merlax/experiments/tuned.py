"""What the presets were tuned on, and the chance that the baselines got, as data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merlax.algorithms import presets
from merlax.algorithms.gradient import Gradient
from merlax.experiments import measures
from merlax.experiments.ours import PLAIN, PLAIN_CRITIC, SMALL_TUNED, SMALL_TWO_LEARNERS, without
from merlax.experiments.paper import MERL, SMALL, TEAMS_REWARD, gradient
from merlax.experiments.spec import Experiment, Method, Quick, Task, combine

_NORMALISED = {"critic_normalised": True, "critic_hidden": [100, 100, 100], "huber": 0.1}


def _grid(algorithm: str, reward: str) -> list[Method]:
    """The eight settings in which a gradient method has its chance; from the third on each changes the second."""
    base = presets.preset("fast", "rover-3", algorithm)
    assert isinstance(base, Gradient), "only gradient methods have a learner of their own"
    own = base.learner
    shared = {"critic": "shared"}
    often = shared | {"updates_per_frame": own.updates_per_frame * 8, "batch": 64}
    settings = {
        "separate critics": {"critic": "joint"},
        "shared critics": shared,
        "squared errors": shared | {"huber": 0.0},
        "discount 0.5": shared | {"discount": 0.5},
        "rates × 0.2": shared | {"actor_rate": own.actor_rate * 0.2, "critic_rate": own.critic_rate * 0.2},
        "updates × 4": shared | {"updates_per_frame": own.updates_per_frame * 4},
        "updates × 8, batch 64": often,
        "MERL's critic": often | {"critic_hidden": [100, 100, 100], "critic_normalised": True},
    }
    return [
        Method(f"{algorithm.upper()}-{reward}, {name}", algorithm, {"learner": {"reward": reward} | changes})
        for name, changes in settings.items()
    ]


def _contest_grid(algorithm: str, world: str, last: dict[str, dict[str, Any]]) -> list[Method]:
    """The eight settings in which a joint method has its chance in a contest; the last two are the world's own."""
    own = presets.preset("fast", world).learners[0]
    wide: dict[str, Any] = {"critic_hidden": [300, 300], "huber": own.huber}
    narrow: dict[str, Any] = {"critic_hidden": [100, 100], "huber": own.huber}
    often = narrow | {"updates_per_frame": own.updates_per_frame, "batch": own.batch}
    settings: dict[str, dict[str, Any]] = {
        "few updates": wide | {"updates_per_frame": 0.0032, "batch": 512},
        "half of MERL's updates": wide | {"updates_per_frame": own.updates_per_frame / 2, "batch": own.batch},
        "MERL's updates": often | wide,
        "MERL's updates, narrow": often,
        "the same, discount 0.95": often | {"discount": 0.95},
        "the same, rates × 0.2": often | {"actor_rate": own.actor_rate * 0.2, "critic_rate": own.critic_rate * 0.2},
        **{f"the same, {name}": often | changes for name, changes in last.items()},
    }
    return [Method(f"{algorithm.upper()}, {name}", algorithm, {"learner": made}) for name, made in settings.items()]


def _more_updates(algorithm: str, reward: str) -> Method:
    return next(method for method in _grid(algorithm, reward) if method.label.endswith("updates × 4"))


def _three_learners(label: str, allocate: str) -> Method:
    """MERL with three discounts, which share the gradient steps, and the noisy episodes, of its one learner."""
    own = presets.FAST_ROVER.learners[0]
    learners = [{"discount": g, "updates_per_frame": own.updates_per_frame / 3} for g in (0.5, 0.2, 0.9)]
    return without(label, learners=learners, allocate=allocate, population=9, explore_episodes=17)


def _ea_grid() -> list[Method]:
    """The eight settings in which EA has its chance; from the second on each changes the first."""
    printed: dict[str, Any] = {"mutation": {"strength": 0.1}}
    calm = {"mutation": {"super_probability": 0.0, "reset_probability": 0.0}}
    settings: dict[str, dict[str, Any]] = {
        "the paper's mutations": {},
        "population 30": {"population": 30},
        "population 100": {"population": 100},
        "5 episodes": {"fitness": {"episodes": 5}},
        "mutations × 0.3": {"mutation": {"strength": 0.03}},
        "mutations × 3": {"mutation": {"strength": 0.3}},
        "no super mutations": calm,
        "population 30, no super mutations": {"population": 30} | calm,
    }
    return [Method(f"EA, {name}", "ea", combine(printed, changes)) for name, changes in settings.items()]


def _which_critics(name: str, title: str, world: str, learners: Callable[[dict[str, Any]], list[Any]]) -> Experiment:
    """Both kinds of critics for a team's learners, on seeds that are not reported."""
    kinds = {"normalised critics": _NORMALISED, "plain critics": PLAIN}
    return Experiment(
        name=name,
        title=title,
        shows="How champions of both kinds of critics do beside the hand rule, on seeds that are not reported.",
        figure="finals",
        tasks=(Task(world),),
        methods=tuple(without(label, learners=learners(kind)) for label, kind in kinds.items()),
        frames=2_000_000,
        quick=Quick(3_000, SMALL_TWO_LEARNERS if len(learners({})) > 1 else SMALL, seeds=(3,)),
        seeds=(3, 4, 5),
        measure=measures.beside_the_hand_rule,
    )


def _chance(name: str, world: str, last: dict[str, dict[str, Any]]) -> Experiment:
    """The chance that the baselines get in a contest."""
    return Experiment(
        name=name,
        title=f"The baselines' chance in {world}: eight settings each",
        shows=f"With which settings MATD3, MADDPG and EA do best on {world}: every team against every opponent.",
        figure="finals",
        tasks=(Task(world),),
        methods=(*_ea_grid(), *_contest_grid("matd3", world, last), *_contest_grid("maddpg", world, last)),
        frames=400_000,
        quick=Quick(3_000, SMALL, methods=("EA, mutations × 3", "MATD3, MERL's updates"), seeds=(1,)),
        seeds=(1,),
        measure=measures.against_each_other,
    )


EXPERIMENTS = (
    Experiment(
        name="tune-allocation",
        title="Who gets the gradient steps of three learners",
        shows="Whether steps divided by how often each learner's migrants are selected do better than equal ones.",
        figure="finals",
        tasks=(Task("rover-3", {"speed": "pinned"}),),
        methods=(
            MERL,
            _three_learners("three learners, equal steps", "equal"),
            _three_learners("three learners, by selection", "selection"),
        ),
        frames=1_000_000,
        quick=Quick(4_000, SMALL_TUNED, methods=("MERL", "three learners, by selection"), seeds=(4,)),
        seeds=(4, 5, 6),
    ),
    Experiment(
        name="tune-baselines",
        title="The baselines' chance: eight settings each",
        shows="With which settings MATD3, MADDPG and EA do best on rover-3: one seed, a quarter of the frames.",
        figure="finals",
        tasks=(Task("rover-3", {"speed": "pinned"}),),
        methods=(
            *_ea_grid(),
            *(m for name in ("matd3", "maddpg") for reward in ("mixed", "global") for m in _grid(name, reward)),
        ),
        frames=500_000,
        quick=Quick(3_000, SMALL, methods=(_grid("matd3", "mixed")[0].label, _grid("maddpg", "global")[-1].label)),
        seeds=(1,),  # 1 to 9 are for tuning
    ),
    _chance(
        "tune-contests",
        "predator-prey",
        {"mixed reward": {"reward": "mixed"}, "team reward": TEAMS_REWARD},  # MERL's learners have both
    ),
    _chance(
        "tune-deceivers",
        "physical-deception",
        {"squared errors": {"huber": 0.0}, "MERL's critic": _NORMALISED},
    ),
    Experiment(
        name="joint-updates",
        title="Joint critics with four times the updates",
        shows="Whether MATD3 and MADDPG, which have few updates for the time's sake, would be other methods with more.",
        figure="finals",
        tasks=(Task("rover-3", {"speed": "pinned"}),),
        methods=tuple(
            method
            for name in ("matd3", "maddpg")
            for reward in ("global", "mixed")
            for method in (gradient(name, reward), _more_updates(name, reward))
        ),
        frames=2_000_000,
        quick=Quick(3_000, SMALL, methods=("MATD3-mixed", "MATD3-mixed, updates × 4"), seeds=(101,)),
        seeds=(101, 102, 103),
    ),
    Experiment(
        name="tune-particles",
        title="Who learns what in predator-prey",
        shows="What each learner of the predators adds: every variant's team against every variant's prey.",
        figure="finals",
        tasks=(Task("predator-prey"),),
        methods=(
            without("both learners", learners=[_NORMALISED, _NORMALISED | TEAMS_REWARD]),
            without("the agents' learner", learners=[_NORMALISED]),
            without("the team's learner", learners=[_NORMALISED | TEAMS_REWARD]),
            without("both, plain critics", learners=[PLAIN_CRITIC, PLAIN_CRITIC | TEAMS_REWARD]),
            Method("TD3-agent alone", "td3", {"learner": _NORMALISED | {"reward": "agent"}}),
            Method("TD3-global alone", "td3", {"learner": _NORMALISED | TEAMS_REWARD}),
        ),
        frames=400_000,
        quick=Quick(3_000, SMALL_TWO_LEARNERS, methods=("both learners", "TD3-agent alone"), seeds=(1,)),
        seeds=(1, 2),  # 1 to 9 are for tuning; no score that the docs report comes from them
        measure=measures.against_each_other,
    ),
    _which_critics(
        "tune-predators",
        "Which critics predators need, at full length",
        "predator-prey",
        learners=lambda kind: [kind, kind | TEAMS_REWARD],
    ),
    _which_critics(
        "tune-deception",
        "Which critics physical deception needs, at full length",
        "physical-deception",
        learners=lambda kind: [kind],
    ),
)
