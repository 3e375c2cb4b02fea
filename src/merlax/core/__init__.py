"""What algorithms are made of: networks, replay, rollouts, learners, operators."""
