"""Experiments of our own, as data: the scores that the docs report; `tuned.py` has the tuning."""

from __future__ import annotations

from typing import Any

from merlax.experiments import measures
from merlax.experiments.paper import EA, MERL, SMALL, claims, gradient
from merlax.experiments.spec import Experiment, Method, Quick, Task, combine

TRAP_DISTANCES, TRAP_NEARER = (3.0, 2.0, 1.0, 0.5), (0.5, 1.0, 2.0, 4.0)
_CORNERS = ((3.0, 0.5), (3.0, 4.0), (0.5, 0.5), (0.5, 4.0))


def _trap(distance: float, nearer: float) -> Task:
    """Two rovers, with both knobs set."""
    return Task("two-rovers", {"observation_distance": distance, "nearer": nearer})


def without(label: str, **changes: Any) -> Method:
    """MERL with one ingredient of `fast` removed or changed."""
    return Method(label, "merl", changes)


_ROVERS = tuple(
    Task(f"rover-{coupling}", {"speed": speed}) for speed in ("pinned", "free") for coupling in (1, 3, 5, 7)
)
# The control: what MERL's learner reaches without evolution, with MERL's own discount and updates.
LEARNER = Method("learner alone", "td3", {"learner": {"reward": "agent", "discount": 0.5}})
SMALL_TUNED = combine(SMALL, {"merl": {"tuning": {"pairs": 2}}})
SMALL_TWO_LEARNERS = combine(SMALL, {"merl": {"population": 8, "tuning": {"pairs": 0}}})  # room for two learners
PLAIN = {"critic_normalised": False, "critic_hidden": [100, 100], "huber": 0.0}
PLAIN_CRITIC = PLAIN | {"halving_rounds": 0.0}  # as in the paper


EXPERIMENTS = (
    Experiment(
        name="beyond",
        title="MERL and its learner alone",
        shows="What evolution adds to its learner: MERL, preset fast, beside the same learner with all the frames.",
        figure="curves",
        tasks=_ROVERS,
        methods=(MERL, LEARNER),
        frames=2_000_000,
        quick=Quick(4_000, SMALL_TUNED, worlds=("rover-3",)),
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
            without("no tuning", tuning={"pairs": 0}, population=10, selection={"elites": 4}),
            without("one role", tuning={"roles": 1}),
            without("inputs apart", tuning={"reach": 0.0}),
            without("the paper's critic", learners=[PLAIN_CRITIC]),
            without("no memory of migrants", fitness={"migrant_memory": 1}),
        ),
        frames=2_000_000,
        quick=Quick(4_000, SMALL_TUNED, methods=("MERL", "no tuning"), worlds=("rover-3",)),
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
            without("a role each", tuning={"roles": 6}),
            without("one elite, one child", population=4, selection={"elites": 1}),
        ),
        frames=2_000_000,
        quick=Quick(4_000, SMALL_TUNED, methods=("MERL", "a role each")),
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
        methods=(Method("MERL", "merl", preset="paper"),),
        frames=2_000_000,
        quick=Quick(4_000, SMALL),
        seeds=(2019,),
        claims=claims("rover-3", MERL="MERL"),
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
        name="keep-away-ea",
        title="EA alone on keep-away",
        shows="Whether the size of its mutations, or its population, is what keeps EA far behind.",
        figure="finals",
        tasks=(Task("keep-away"),),
        methods=(
            EA,
            *(Method(f"EA, mutations of {size:g}", "ea", {"mutation": {"strength": size}}) for size in (0.1, 0.03)),
            Method("EA, population 100", "ea", {"population": 100}),
        ),
        frames=3_000_000,
        quick=Quick(6_000, SMALL),
        seeds=(2018, 2019, 2020),
    ),
    Experiment(
        name="trap-map",
        title="Where MERL pays: two rovers in a trap",
        shows="Which methods escape the greedy trap, by how hard it is to stumble on a POI and how misaligned the "
        "rewards are.",
        figure="map",
        tasks=tuple(_trap(distance, nearer) for distance in TRAP_DISTANCES for nearer in TRAP_NEARER),
        methods=(MERL, LEARNER, EA, *(gradient("td3", reward) for reward in ("agent", "mixed", "global"))),
        frames=100_000,
        quick=Quick(6_000, SMALL, methods=("MERL", "EA"), worlds=tuple(_trap(*knobs).label for knobs in _CORNERS)),
        seeds=tuple(range(201, 211)),
        axes=(
            ("nearer", "how much nearer the wrong POI is"),
            ("observation_distance", "distance at which a POI is observed"),
        ),
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
        quick=Quick(3_000, SMALL_TWO_LEARNERS, seeds=(105,)),
        seeds=(105, 106, 107),  # 101 to 104 were looked at while the preset was made
        measure=measures.beside_the_hand_rule,
    ),
)
