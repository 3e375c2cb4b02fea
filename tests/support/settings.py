"""Settings with which a run of MERL takes a moment."""

TINY = {
    "population": 6,
    "fitness": {"episodes": 1},
    "learners": [{"batch": 8, "buffer": 2000, "critic_hidden": [8]}],
    "explore_episodes": 2,
    "tuning": {"pairs": 0},
    "actor_hidden": [8],
}
