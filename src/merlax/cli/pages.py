"""The commands that make pages of runs: report, watch."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from merlax import api, envs
from merlax.cli.parsing import parse
from merlax.core import devices
from merlax.experiments import watch as watching
from merlax.runs import terminal


def report(args: Sequence[str]) -> int:
    """Make one page of runs: curves, scores, who beats whom, families, settings, and the best team's replay."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN")]
        """Run folders, or folders that hold some, such as one that `merlax reproduce` made."""
        out: Path
        """The page to write: .html."""
        env: str | None = None
        """The world again as module:World, if it is one of your own, so that its best team can be seen."""

    o = parse(Options, "report", args, report.__doc__)
    with terminal.busy("reading runs and drawing …"):
        notes = api.report(o.runs, o.out, None if o.env is None else envs.make(o.env))
    for note in notes:
        print(f"merlax: {note}", file=sys.stderr)
    print(o.out)
    return 0


def watch(args: Sequence[str]) -> int:
    """Show the report of runs that are still going, as a page of this machine that renews itself."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN")]
        """Run folders, or folders that hold some."""
        port: int = 0
        """Of the address on this machine; 0: any that is free."""
        env: str | None = None
        """The world again as module:World, if it is one of your own, so that its best team can be seen."""

    o = parse(Options, "watch", args, watch.__doc__)
    devices.prepare()
    if not o.runs:
        api.refuse_no_runs()
    server = watching.server(list(o.runs), o.port, None if o.env is None else envs.make(o.env))
    print(f"http://{watching.LOOPBACK}:{server.server_address[1]}/ (Ctrl-C ends it)", flush=True)
    with server:
        server.serve_forever()
    return 0
