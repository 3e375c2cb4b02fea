"""Runs scripts one after the other in this process, each as `__main__` in a folder of its own.

Starting Python and JAX takes longer than a small example, so that all of them share one start.

    python tests/support/run_examples.py requests.json: a list of [name, script, argument …], answered as JSON
"""

import contextlib
import gc
import io
import json
import os
import runpy
import sys
import time
import traceback
from pathlib import Path


def run(name: str, script: str, arguments: list[str]) -> dict[str, object]:
    """What a script printed, how long it took, and the traceback if it failed."""
    folder = Path(name)
    folder.mkdir()
    home, printed, start, error = Path.cwd(), io.StringIO(), time.perf_counter(), None
    os.chdir(folder)
    sys.argv = [script, *arguments]
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(script, run_name="__main__") if script.endswith(".py") else _command(arguments)
    except BaseException:
        error = traceback.format_exc()
    finally:
        os.chdir(home)
    return {"printed": printed.getvalue(), "seconds": time.perf_counter() - start, "error": error}


def _command(arguments: list[str]) -> None:
    from merlax import cli

    code = cli.main(arguments)
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    gc.set_threshold(100_000, 20, 20)  # as in the tests
    requests = json.loads(Path(sys.argv[1]).read_text())
    print(json.dumps({name: run(name, script, arguments) for name, script, *arguments in requests}))
