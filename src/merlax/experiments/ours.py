"""Experiments of our own, as data: the scores that the docs report, and what the presets were tuned on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merlax.algorithms import presets
from merlax.algorithms.gradient import Gradient
from merlax.experiments import measures
from merlax.experiments.paper import EA, MERL, SMALL, claims, gradient
from merlax.experiments.spec import Experiment, Method, Quick, Task, combine

TRAP_DISTANCES, TRAP_NEARER = (3.0, 2.0, 1.0, 0.5), (0.5, 1.0, 2.0, 4.0)
_CORNERS = ((3.0, 0.5), (3.0, 4.0), (0.5, 0.5), (0.5, 4.0))


def _trap(distance: float, nearer: float) -> Task:
    """Two rovers, with both knobs set."""
    return Task("two-rovers", {"observation_distance": distance, "nearer": nearer})


def _without(label: str, **changes: Any) -> Method:
    """MERL with one ingredient of `fast` removed or changed."""
    return Method(label, "merl", changes)


_ROVERS = tuple(
    Task(f"rover-{coupling}", {"speed": speed}) for speed in ("pinned", "free") for coupling in (1, 3, 5, 7)
)
# The control: what MERL's learner reaches without evolution, with MERL's own discount and updates.
LEARNER = Method("learner alone", "td3", {"learner": {"reward": "agent", "discount": 0.5}})
_TUNED = combine(SMALL, {"merl": {"tuning": {"pairs": 2}}})
_TEAMS = combine(SMALL, {"merl": {"population": 8, "tuning": {"pairs": 0}}})  # room for two learners
_TEAMS_REWARD = {"reward": "global", "reward_scale": 1.0, "discount": 0.9}
_PLAIN = {"critic_normalised": False, "critic_hidden": [100, 100], "huber": 0.0}
_NORMALISED = {"critic_normalised": True, "critic_hidden": [100, 100, 100], "huber": 0.1}
_PLAIN_CRITIC = _PLAIN | {"halving_rounds": 0.0}  # as in the paper


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


def _more_updates(algorithm: str, reward: str) -> Method:
    return next(method for method in _grid(algorithm, reward) if method.label.endswith("updates × 4"))


def _three_learners(label: str, allocate: str) -> Method:
    """MERL with three discounts, which share the gradient steps, and the noisy episodes, of its one learner."""
    own = presets.FAST_ROVER.learners[0]
    learners = [{"discount": g, "updates_per_frame": own.updates_per_frame / 3} for g in (0.5, 0.2, 0.9)]
    return _without(label, learners=learners, allocate=allocate, population=9, explore_episodes=17)


def _ea_grid() -> list[Method]:
    """The eight settings in which EA has its chance; from the second on each changes the first."""
    calm = {"mutation": {"super_probability": 0.0, "reset_probability": 0.0}}
    settings: dict[str, dict[str, Any]] = {
        "preset": {},
        "population 30": {"population": 30},
        "population 100": {"population": 100},
        "5 episodes": {"fitness": {"episodes": 5}},
        "mutations × 0.3": {"mutation": {"strength": 0.03}},
        "mutations × 3": {"mutation": {"strength": 0.3}},
        "no super mutations": calm,
        "population 30, no super mutations": {"population": 30} | calm,
    }
    return [Method(f"EA, {name}", "ea", changes) for name, changes in settings.items()]


def _which_critics(name: str, title: str, world: str, learners: Callable[[dict[str, Any]], list[Any]]) -> Experiment:
    """Both kinds of critics for a team's learners, on seeds that are not reported."""
    kinds = {"normalised critics": _NORMALISED, "plain critics": _PLAIN}
    return Experiment(
        name=name,
        title=title,
        shows="How champions of both kinds of critics do beside the hand rule, on seeds that are not reported.",
        figure="finals",
        tasks=(Task(world),),
        methods=tuple(_without(label, learners=learners(kind)) for label, kind in kinds.items()),
        frames=2_000_000,
        quick=Quick(3_000, _TEAMS if len(learners({})) > 1 else SMALL, seeds=(3,)),
        seeds=(3, 4, 5),
        measure=measures.beside_the_hand_rule,
    )


EXPERIMENTS = (
    Experiment(
        name="beyond",
        title="MERL and its learner alone",
        shows="What evolution adds to its learner: MERL, preset fast, beside the same learner with all the frames.",
        figure="curves",
        tasks=_ROVERS,
        methods=(MERL, LEARNER),
        frames=2_000_000,
        quick=Quick(4_000, _TUNED, worlds=("rover-3",)),
        seeds=(101, 102, 103, 104, 105),
        claims=tuple(claim for n in (3, 5) for claim in claims(f"rover-{n} (speed pinned)", MERL="MERL")),
    ),
    Experiment(
        name="ingredients",
        title="Each ingredient of preset fast removed in turn",
        shows="Which part of preset fast does what: how much a champion scores less without it, by coupling and speed.",
        figure="losses",
        tasks=_ROVERS,
        methods=(
            MERL,
            LEARNER,
            _without("no tuning", tuning={"pairs": 0}, population=10, selection={"elites": 4}),
            _without("one role", tuning={"roles": 1}),
            _without("inputs apart", tuning={"reach": 0.0}),
            _without("the paper's critic", learners=[_PLAIN_CRITIC]),
            _without("no memory of migrants", fitness={"migrant_memory": 1}),
        ),
        frames=2_000_000,
        quick=Quick(4_000, _TUNED, methods=("MERL", "no tuning"), worlds=("rover-3",)),
        seeds=(101, 102, 103),
    ),
    Experiment(
        name="alternatives",
        title="MERL on rover-3 beside two other ways",
        shows="Whether more roles, or fewer teams, do better than preset fast.",
        figure="losses",
        tasks=(Task("rover-3", {"speed": "pinned"}),),
        methods=(
            MERL,
            _without("a role each", tuning={"roles": 6}),
            _without("one elite, one child", population=4, selection={"elites": 1}),
        ),
        frames=2_000_000,
        quick=Quick(4_000, _TUNED, methods=("MERL", "a role each")),
        seeds=(101, 102, 103),
    ),
    Experiment(
        name="scores",
        title="MERL, preset fast",
        shows="How well MERL does on the rover domain; the published score was very likely made with the speed pinned.",
        figure="curves",
        tasks=(
            Task("rover-3", {"speed": "pinned"}),
            Task("rover-3", {"speed": "free"}),
            Task("rover-1", {"speed": "free"}, frames=1_000_000),
            Task("two-rovers", frames=400_000),
        ),
        methods=(MERL,),
        frames=2_000_000,
        quick=Quick(4_000, SMALL),
        claims=(*claims("rover-3 (speed pinned)", MERL="MERL"), *claims("two-rovers", MERL="MERL")),
    ),
    Experiment(
        name="paper-settings",
        title="MERL with the paper's own settings",
        shows="What Table 2 and the published encoding reach on rover-3, speed pinned; published: 0.48.",
        figure="curves",
        tasks=(Task("rover-3", {"speed": "pinned", "encoding": "published"}),),
        methods=(Method("MERL, paper", "merl", preset="paper"),),
        frames=2_000_000,
        quick=Quick(4_000, SMALL),
        seeds=(2019,),
        claims=claims("rover-3", MERL="MERL, paper"),
    ),
    Experiment(
        name="two-rovers-ea",
        title="EA alone on two-rovers",
        shows="Whether EA escapes the greedy trap (0.5), by preset and encoding: the settings decide.",
        figure="finals",
        tasks=(Task("two-rovers", {"encoding": "clean"}), Task("two-rovers", {"encoding": "published"})),
        methods=(Method("EA, fast", "ea"), Method("EA, paper", "ea", preset="paper")),
        frames=400_000,
        quick=Quick(6_000, SMALL),
    ),
    Experiment(
        name="trap-map",
        title="Where MERL pays: two rovers in a trap",
        shows="Which methods escape the greedy trap, by how hard it is to stumble on a POI and how misaligned the "
        "rewards are.",
        figure="map",
        tasks=tuple(_trap(distance, nearer) for distance in TRAP_DISTANCES for nearer in TRAP_NEARER),
        methods=(MERL, EA, *(gradient("td3", reward) for reward in ("agent", "mixed", "global"))),
        frames=100_000,
        quick=Quick(6_000, SMALL, methods=("MERL", "EA"), worlds=tuple(_trap(*knobs).label for knobs in _CORNERS)),
        seeds=tuple(range(201, 211)),
        axes=(
            ("nearer", "how much nearer the wrong POI is"),
            ("observation_distance", "distance at which a POI is observed"),
        ),
    ),
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
        quick=Quick(4_000, _TUNED, methods=("MERL", "three learners, by selection"), seeds=(4,)),
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
        name="hand-rules",
        title="MERL beside hand rules on the particle worlds",
        shows="How MERL's champion and a hand rule do against the scripted opponent, which the team has never met, "
        "and against the one that it trained with.",
        figure="finals",
        tasks=tuple(map(Task, ("predator-prey", "predator-prey-hard", "physical-deception", "keep-away"))),
        methods=(MERL,),
        frames=2_000_000,
        quick=Quick(3_000, _TEAMS, seeds=(105,)),
        seeds=(105, 106, 107),  # 101 to 104 were looked at while the preset was made
        measure=measures.beside_the_hand_rule,
    ),
    Experiment(
        name="tune-particles",
        title="Who learns what in predator-prey",
        shows="What each learner of the predators adds: every variant's team against every variant's prey.",
        figure="finals",
        tasks=(Task("predator-prey"),),
        methods=(
            _without("both learners", learners=[_NORMALISED, _NORMALISED | _TEAMS_REWARD]),
            _without("the agents' learner", learners=[_NORMALISED]),
            _without("the team's learner", learners=[_NORMALISED | _TEAMS_REWARD]),
            _without("both, plain critics", learners=[_PLAIN_CRITIC, _PLAIN_CRITIC | _TEAMS_REWARD]),
            Method("TD3-agent alone", "td3", {"learner": _NORMALISED | {"reward": "agent"}}),
            Method("TD3-global alone", "td3", {"learner": _NORMALISED | _TEAMS_REWARD}),
        ),
        frames=400_000,
        quick=Quick(3_000, _TEAMS, methods=("both learners", "TD3-agent alone"), seeds=(1,)),
        seeds=(1, 2),  # 1 to 9 are for tuning; no score that the docs report comes from them
        measure=measures.against_each_other,
    ),
    _which_critics(
        "tune-predators",
        "Which critics predators need, at full length",
        "predator-prey",
        learners=lambda kind: [kind, kind | _TEAMS_REWARD],
    ),
    _which_critics(
        "tune-deception",
        "Which critics physical deception needs, at full length",
        "physical-deception",
        learners=lambda kind: [kind],
    ),
)  # fmt: skip
