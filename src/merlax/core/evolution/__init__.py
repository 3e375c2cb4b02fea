"""Selection, crossover, mutation and migration (paper, Algorithm 1, lines 10–16 and 28).

A population is any pytree whose leaves have a leading `pop` axis; a genome is one slice of it. Slots: elites first,
then their offspring; where learners' teams migrate, they come last.
"""
