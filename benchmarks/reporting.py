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
    text = json.dumps(result, indent=2)
    print(text)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n")
