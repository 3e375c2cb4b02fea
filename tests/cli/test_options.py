"""From words and a file to a plan; what a run does with it is tested where the command is."""

from pathlib import Path
from typing import Any

from merlax.cli.options import TrainOptions, read_request


def test_words_count_more_than_the_file_and_the_file_more_than_the_preset(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('world = "two-rovers"\nseed = 3\nframes = 5000\n[settings]\npopulation = 8\n')
    request = read_request(["--config", str(file), "--seed", "4", "--algorithm", "ea"], "train", None)
    planned = request.plan()
    assert (planned.world, planned.seed, planned.frames, planned.method) == ("two-rovers", 4, 5000, "ea")
    own: Any = planned.algorithm
    usual: Any = read_request(["two-rovers", "--algorithm", "ea"], "train", None).plan().algorithm
    assert (own.population, own.actor_hidden) == (8, usual.actor_hidden)


def test_every_option_of_a_run_is_read():
    words = "rover-1 --from somewhere --no-keep-checkpoint --checkpoint-every 5 --env.num-poi 3".split()
    o = read_request(words, "train", None).options
    assert (o.start, o.keep_checkpoint, o.checkpoint_every, o.env.num_poi) == (Path("somewhere"), False, 5.0, 3)
    assert TrainOptions().start is None
