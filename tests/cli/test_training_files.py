"""Config files of any kind: one sentence that names the file and the field, or the world and its bound."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from merlax import cli

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


def train(out: Path, file: Path) -> int:
    return cli.main(["train", "two-rovers", "--out", str(out), "--config", str(file)])


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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"settings": {"learners": [{"discount": NaN}]}}', "settings.learners.0.discount is nan"),
        ('{"settings": {"learners": [{"discont": 0.5}]}}', "did you mean 'discount'"),
        ('{"settings": {"learners": [3]}}', "must be an object"),
        ('{"settings": {"learners": 3}}', "give a list"),
        ('{"settings": {"noise": "loud"}}', "settings.noise is 'loud'; give a number"),
        ('{"setings": {}}', "did you mean 'settings'"),
        ('{"opponent": {"knd": "scripted"}}', "did you mean 'kind'"),
        ('{"opponent": "scripted"}', "give an object"),
        ('{"env": {"num_pois": 3}}', "did you mean 'num_poi'"),
        ('{"world": 3}', "world is 3"),
        ('{"seed": 1.5}', "seed is 1.5; make it a whole number"),
        ('{"preset": "slow"}', "no preset 'slow'"),
        ('{"world": "rover-3", "env": {"coupling": 3}}', "parameters of rover-3, not of two-rovers"),
        ('{"a\\nb": 1}', "a name in it is too long, or not printable"),
        ("[]", "must hold an object"),
        ("{", "not valid JSON"),
    ],
)
def test_a_bad_config_file_is_refused(text, sentence, tmp_path, capsys):
    (tmp_path / "config.json").write_text(text)
    assert train(tmp_path / "run", tmp_path / "config.json") == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["config.toml", "nowhere.json"])
def test_a_config_file_that_cannot_be_read_is_refused(name, tmp_path, capsys):
    (tmp_path / "config.toml").write_text("noise = ")
    assert train(tmp_path / "run", tmp_path / name) == 2
    assert {"config.toml": "not valid TOML", "nowhere.json": "cannot be read"}[name] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"world": "MODULE:World"}', "WORLD"),
        ('{"world": "two-rovers", "algorithm": "MODULE:Algorithm"}', "--algorithm"),
        ('{"world": "two-rovers", "settings": {"mutation": {"type": "MODULE:Mutation"}}}', "module:Name"),
        ('{"world": "two-rovers", "settings": {"mutation": {"type": "os:path"}}}', "module:Name"),
    ],
)
def test_a_config_file_imports_nothing(text, where, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("imported_by_a_file.py").write_text("raise SystemExit('imported')")
    Path("config.json").write_text(text.replace("MODULE", "imported_by_a_file"))
    assert cli.main(["train", "--config", "config.json"]) == 2
    said = capsys.readouterr().err
    assert "no file is allowed to import code" in said
    assert where in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("kind", ["Td3", "Rover", "Algorithm", "FixedOpponent"])
def test_a_config_file_cannot_put_a_class_where_it_does_not_serve(kind, tmp_path, capsys):
    (tmp_path / "config.json").write_text(json.dumps({"settings": {"mutation": {"type": kind}}}))
    assert train(tmp_path / "run", tmp_path / "config.json") == 2
    assert "cannot serve there" in capsys.readouterr().err
