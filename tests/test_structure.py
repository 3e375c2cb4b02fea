"""The house: every module has its test file, and the package's top holds what the architecture page names."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "merlax"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.name.startswith("__"))


def test_the_top_of_the_package_is_seven_rooms_and_five_modules():
    entries = {path.name for path in SOURCE.iterdir() if path.name != "__pycache__"}
    rooms = {"envs", "core", "algorithms", "runs", "experiments", "figures", "cli"}
    assert entries == rooms | {"__init__.py", "types.py", "files.py", "config.py", "api.py", "py.typed"}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_its_test_file(module):
    assert (ROOT / "tests" / module.parent / f"test_{module.name}").exists()


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.stem)
def test_no_test_file_imports_another(path):
    imports = [line for line in path.read_text().splitlines() if line.startswith(("from tests", "import tests"))]
    assert not [line for line in imports if "test_" in line]


def test_what_a_reader_is_sent_to_exists():
    """Code and docs cite pages of this repository, never a file that only its authors have."""
    for folder in ("src", "tests", "docs", "benchmarks", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md") and path.name != Path(__file__).name:
                assert not [word for word in ("FACTS", "DESIGN §", "DESIGN.md") if word in path.read_text()], path
