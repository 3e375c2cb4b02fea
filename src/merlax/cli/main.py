"""The command line: `merlax COMMAND …`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from merlax.cli import machine, paper, teams, training
from merlax.types import UserError, suggest

INTERRUPTED, PIPE_CLOSED = 130, 141  # the shell's codes for Ctrl-C and for a reader that has gone

COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "train": training.train,
    "resume": training.resume,
    "evaluate": teams.evaluate,
    "crossplay": teams.crossplay,
    "render": teams.render,
    "envs": machine.list_envs,
    "reproduce": paper.reproduce,
    "plot": paper.plot,
    "bench": machine.bench,
    "selection-rate": machine.selection_rate,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; every error is one sentence and exit code 2, unless --debug asks for the traceback."""
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    try:
        return _dispatch(args)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        return PIPE_CLOSED
    except Exception as error:
        if debug:
            raise
        hint = "" if isinstance(error, UserError) else " This looks like a fault of merlax: --debug shows where."
        print("merlax:", *f"{error}{hint}".splitlines(), file=sys.stderr)
        return 2


def _dispatch(args: list[str]) -> int:
    if not args or args[0] in ("-h", "--help"):
        _help()
        return 0 if args else 2
    name, *rest = args
    if name not in COMMANDS:
        raise UserError(f"There is no command '{name}'{suggest(name, list(COMMANDS))}; `merlax --help` lists them.")
    return COMMANDS[name](rest)


def _help() -> None:
    print("usage: merlax COMMAND [OPTIONS]\n\nmerlax trains teams of agents (MERL).\n\ncommands:")
    for name, command in COMMANDS.items():
        print(f"  {name:<16} {(command.__doc__ or '').splitlines()[0]}")
    print("\n`merlax COMMAND --help` explains every option; --debug shows the traceback of an error.")


if __name__ == "__main__":
    sys.exit(main())
