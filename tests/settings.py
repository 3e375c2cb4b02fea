"""Settings of MERL with which a run takes a moment."""

TINY = {
    "evolution": {"population": 6, "fitness_episodes": 1},
    "td3": {"batch": 8, "buffer": 2000},
    "explore_episodes": 2,
    "actor_hidden": [8],
    "critic_hidden": [8],
}
