"""Config files of any kind: one sentence that names the file and the field, or the world and its bound."""

import json
import os
from typing import Any

import pytest

DEEP: Any = "x"
for _ in range(50):
    DEEP = [DEEP]

WRONG = [
    ({"world": ["rover-3"]}, "world is ['rover-3']; give a value of type str."),
    ({"world": "rover-3", "seed": None}, "seed is None; give a whole number."),
    ({"world": "rover-3", "versions": [1]}, "versions is [1]; give an object with named fields."),
    ({"world": "rover-3", "frames": "x"}, "frames is 'x'; give a whole number."),
    ({"world": "rover-3", "opponent": 3}, "opponent is 3; give an object with named fields."),
    ({"world": "rover-3", "settings": []}, "settings is []; give an object with named fields."),
    ({"world": "rover-3", "seed": 10**400}, "; give a finite number."),
    ({"world": "rover-3", "seed": float("inf")}, "seed is inf; give a finite number."),
    ({"world": "\ud800"}, "surrogates not allowed"),
    ({"world": "rover-3", "env": DEEP}, "nested too deeply"),
    ({"world": "rover-3", "env": {"num_poi": 10**9}}, "num_poi is 1000000000; make it a whole number from 1 to 1,000."),
    ({"world": "rover-3", "settings": {"mutation": {"type": "SinglePointCrossover"}}}, "which cannot serve there"),
]


@pytest.mark.parametrize(("data", "sentence"), WRONG, ids=[ascii(data)[:50] for data, _ in WRONG])
def test_a_wrong_field_gets_one_sentence(refuses, tmp_path_factory, data, sentence):
    path = tmp_path_factory.mktemp("config") / "config.json"
    path.write_text(json.dumps(data))
    refuses(["train", "--config", str(path)], sentence)


def test_a_config_that_never_ends_or_never_begins_is_refused(refuses, tmp_path_factory):
    folder = tmp_path_factory.mktemp("config")
    os.mkfifo(folder / "fifo.json")
    (folder / "endless.toml").symlink_to("/dev/zero")
    for name in ("fifo.json", "endless.toml"):
        refuses(
            ["train", "--config", str(folder / name)], f"'{folder / name}' cannot be read: it is not a regular file."
        )
