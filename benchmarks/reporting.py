"""How every benchmark says what it measured: as JSON, printed and, if asked for, in a file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A command line with `--out`."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=Path, help="write the JSON to this file, too")
    return made


def report(result: dict[str, Any], out: Path | None) -> None:
    """Print it and, if there is a file, write it."""
    print(json.dumps(result, indent=2))
    if out:
        write(result, out)


def write(result: dict[str, Any], out: Path) -> None:
    """Write it to a file, whole or not at all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = out.with_name(out.name + ".new")
    fresh.write_text(json.dumps(result, indent=2) + "\n")
    fresh.replace(out)
