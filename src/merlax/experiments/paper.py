"""Every experiment of the paper, as data; ours are in `ours.py` and `tuned.py`. Adding one means adding it here.

The published rover scores were very likely made with the speed pinned (docs/authors-code.md), so these experiments
pin it, and say so; `at_speed("free")` is the world as the paper describes it. Values that the paper leaves open (the
sweeps' values, the weights) are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merlax.experiments import measures
from merlax.experiments.spec import Claim, Experiment, Method, Quick, Task, bare
from merlax.runs.published import published

MERL = Method("MERL", "merl")
EA = Method("EA", "ea")
TEAMS_REWARD = {"reward": "global", "reward_scale": 1.0, "discount": 0.9}  # as predators' second learner has it
# What MERL's learners reach without evolution: the agents' and, in predator-prey, the team's.
ALONE = Method("learner alone", "td3")
TEAMS_ALONE = Method("team's learner alone", "td3", {"learner": TEAMS_REWARD})
POPULATIONS = (10, 30, 100, 300, 1000)
SIGMAS = (0.01, 0.03, 0.1, 0.3, 1.0)
WEIGHTS = (0.0, 0.1, 1.0, 10.0, 100.0, 1000.0)  # with 0, the control: the agents' reward alone
LONG = 100_000_000  # the paper's budget for EA and ES alone
CONTEST = 10_000_000
# Where the hours are few (`--short`): a third of the paper's budget for contests and for EA and ES alone.
SHORT_LONG, SHORT_CONTEST = 30_000_000, 3_000_000

_FEW_UPDATES = {"batch": 32, "updates_per_frame": 0.02}
_FEW = {"explore_episodes": 4, "learner": _FEW_UPDATES}
SMALL: Mapping[str, Mapping[str, Any]] = {
    "merl": {
        "explore_episodes": 4,
        "learners": [_FEW_UPDATES],
        "population": 6,
        "fitness": {"episodes": 1},
        "tuning": {"pairs": 0},
    },
    "ea": {"fitness": {"episodes": 1}},
    "es": {"fitness_episodes": 1},
    "td3": _FEW,
    "matd3": _FEW,
    "maddpg": _FEW,
}


def _rover(*couplings: int) -> tuple[Task, ...]:
    return tuple(Task(f"rover-{coupling}", {"speed": "pinned"}) for coupling in couplings)


def gradient(algorithm: str, reward: str) -> Method:
    """A gradient method on one of the three rewards."""
    return Method(f"{algorithm.upper()}-{reward}", algorithm, {"learner": {"reward": reward}})


def claims(world: str, **methods: str) -> tuple[Claim, ...]:
    """Published scores on a world: who is published, and the label of our method that answers."""
    found = ((label, published(bare(world), name)) for name, label in methods.items())
    return tuple(Claim(world, label, score) for label, score in found if score is not None)


def _weight(weight: float) -> Method:
    """With squared errors: of errors beyond the preset's 0.02 only the sign counts, so large weights would be alike."""
    changes = {"learner": {"reward": "mixed", "team_weight": weight, "huber": 0.0}}
    return Method(f"MATD3-mixed, weight {weight:g}", "matd3", changes, value=weight)


def _contest(
    name: str, title: str, shows: str, *worlds: str, joint: tuple[Method, ...], controls: tuple[Method, ...]
) -> Experiment:
    """All methods against opponents that learn, each method's its own; the paper's, then controls that it lacks."""
    methods = (MERL, EA, *joint)
    return Experiment(
        name=name,
        title=title,
        shows=shows,
        figure="curves",
        tasks=tuple(map(Task, worlds)),
        methods=(*methods, *controls),
        frames=CONTEST,
        quick=Quick(3_000, SMALL, methods=tuple(method.label for method in methods)),
        seeds=(2018, 2019, 2020, 2021, 2022),
        short=SHORT_CONTEST,
        measure=measures.against_each_method,
    )


def _ea(population: int) -> Method:
    changes = {"population": population}
    return Method(f"EA, population {population}", "ea", changes, frames=LONG, value=float(population))


def _es(parameter: str, value: int | float) -> Method:
    return Method(f"ES, {parameter} {value:g}", "es", {parameter: value}, frames=LONG, value=float(value))


EXPERIMENTS = (
    Experiment(
        name="motivating",
        title="Two rovers and a greedy trap",
        shows="MERL solves it, EA and TD3-mixed end in the greedy solution, TD3-global learns nothing (Figure 1b).",
        figure="curves",
        tasks=(Task("two-rovers"),),
        methods=(MERL, EA, gradient("td3", "global"), gradient("td3", "mixed")),
        frames=400_000,
        quick=Quick(6_000, SMALL),
        claims=claims("two-rovers", **{"MERL": "MERL", "EA": "EA", "TD3-mixed": "TD3-mixed"}),
    ),
    Experiment(
        name="rover-coupling",
        title="Rover domain, coupling 1, 3 and 7",
        shows="MERL is first at every coupling; the baselines degrade quickly beyond 3; MERL still learns at 7.",
        figure="curves",
        tasks=_rover(1, 3, 7),
        methods=(MERL, EA, *(gradient(a, r) for a in ("matd3", "maddpg") for r in ("global", "mixed"))),
        frames=2_000_000,
        quick=Quick(
            4_000, SMALL, methods=("MERL", "EA", "MATD3-mixed", "MADDPG-global"), worlds=("rover-3", "rover-7")
        ),
        claims=claims("rover-3", MERL="MERL"),
    ),
    Experiment(
        name="scalarisation",
        title="MATD3 on mixed rewards, by the weight of the team reward",
        shows="No weight lets MATD3-mixed make progress.",
        figure="sweep",
        tasks=_rover(3),
        methods=(MERL, *map(_weight, WEIGHTS)),
        frames=2_000_000,
        quick=Quick(4_000, SMALL, methods=("MERL", *(_weight(weight).label for weight in (0.1, 10.0, 1000.0)))),
        parameter="weight of the team reward",
        claims=claims("rover-3", MERL="MERL"),
    ),
    Experiment(
        name="trajectories",
        title="What the teams do, coupling 3",
        shows="MERL forms two groups of 3 and observes 3 of 4 POIs; MADDPG-mixed navigates but observes none.",
        figure="trajectories",
        tasks=_rover(3),
        methods=(MERL, gradient("maddpg", "mixed")),
        frames=2_000_000,
        quick=Quick(4_000, SMALL),
        seeds=(2019,),
    ),
    Experiment(
        name="selection-rate",
        title="Selection rate of migrants",
        shows="Keep-away far below 0.47, which is chance; predator-prey above throughout; rover and deception high, "
        "then waning.",
        figure="selection",
        tasks=(
            *_rover(1, 3, 7),
            *(Task(world, frames=CONTEST) for world in ("predator-prey", "physical-deception", "keep-away")),
        ),
        methods=(MERL,),
        frames=2_000_000,
        quick=Quick(10_000, SMALL),
        short=SHORT_CONTEST,
    ),
    _contest(
        "predator-prey",
        "Predator-prey, simple and hard",
        "MERL above MATD3, EA and MADDPG; EA approaches it, more slowly; scores ebb and flow with the prey.",
        "predator-prey",
        "predator-prey-hard",
        # With MERL's second reward, since they do better so (`merlax reproduce tune-contests`).
        joint=(gradient("matd3", "mixed"), gradient("maddpg", "mixed")),
        controls=(ALONE, TEAMS_ALONE),
    ),
    _contest(
        "deception-keepaway",
        "Physical deception and keep-away",
        "Deception: MERL and EA hold, EA slower, MATD3 and MADDPG decline. Keep-away: EA slightly above MERL.",
        "physical-deception",
        "keep-away",
        joint=(Method("MATD3", "matd3"), Method("MADDPG", "maddpg")),
        controls=(ALONE,),
    ),
    Experiment(
        name="es-population",
        title="ES by population, σ 0.1",
        shows="ES is best at population 100: 0.1 after 100 M frames, against MERL's 0.48 after 2 M.",
        figure="sweep",
        tasks=_rover(3),
        methods=(MERL, *(_es("population", population) for population in POPULATIONS)),
        frames=2_000_000,
        quick=Quick(12_000, SMALL, methods=("MERL", "ES, population 10", "ES, population 30", "ES, population 100")),
        parameter="population",
        claims=claims("rover-3", MERL="MERL", ES="ES, population 100"),
        short=SHORT_LONG,
    ),
    Experiment(
        name="es-sigma",
        title="ES by the size of its perturbations, population 100",
        shows="σ matters little.",
        figure="sweep",
        tasks=_rover(3),
        methods=(MERL, *(_es("sigma", sigma) for sigma in SIGMAS)),
        frames=2_000_000,
        quick=Quick(12_000, SMALL, methods=("MERL", *(_es("sigma", sigma).label for sigma in (0.01, 0.1, 1.0)))),
        parameter="σ",
        claims=claims("rover-3", MERL="MERL", ES="ES, sigma 0.1"),
        short=SHORT_LONG,
    ),
    Experiment(
        name="ea-population",
        title="EA by population",
        shows="EA is best at population 100: 0.3 after 100 M frames, against MERL's 0.48 after 2 M.",
        figure="sweep",
        tasks=_rover(3),
        methods=(MERL, *map(_ea, POPULATIONS)),
        frames=2_000_000,
        quick=Quick(12_000, SMALL, methods=("MERL", "EA, population 10", "EA, population 30", "EA, population 100")),
        parameter="population",
        claims=claims("rover-3", MERL="MERL", EA="EA, population 100"),
        short=SHORT_LONG,
    ),
)  # fmt: skip
