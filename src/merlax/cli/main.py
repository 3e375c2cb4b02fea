"""The command line: `merlax COMMAND …`."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Callable, Sequence

from merlax.cli import machine, pages, paper, streams, sweeping, teams, training
from merlax.runs import process
from merlax.runs.hosts import LostError, leave
from merlax.runs.process import StoppedError
from merlax.types import UserError, suggest

INTERRUPTED, PIPE_CLOSED = 130, 141  # the shell's codes for Ctrl-C and for a reader that has gone

_LONG = re.compile(r"\S{1000,}")  # a word that nobody reads to its end

COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "train": training.train,
    "resume": training.resume,
    "sweep": sweeping.sweep,
    "evaluate": teams.evaluate,
    "diagnose": teams.diagnose,
    "crossplay": teams.crossplay,
    "render": teams.render,
    "export": teams.export,
    "report": pages.report,
    "watch": pages.watch,
    "envs": machine.list_envs,
    "check": machine.check,
    "reproduce": paper.reproduce,
    "plot": paper.plot,
    "bench": machine.bench,
    "selection-rate": machine.selection_rate,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; every error is one sentence and exit code 2, unless --debug asks for the traceback."""
    if argv is None:
        process.own()
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    with streams.guarded() as shown:
        try:
            code = _answer(args, debug)
        except SystemExit as ended:  # tyro has shown its help, or said what is wrong
            shown.flush()
            if shown.error is None:
                raise
            code = ended.code if isinstance(ended.code, int) else 2
        shown.flush()
        return code if shown.error is None else code or _unheard(shown.error)


def _answer(args: list[str], debug: bool) -> int:
    try:
        return _dispatch(args)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if debug:
            raise
        _say(_sentence(error))
        if isinstance(error, LostError):
            leave(2)
        return error.exit_code if isinstance(error, StoppedError) else 2


def _unheard(error: OSError) -> int:
    """The exit code of a command that has done its work, but whose words reached nobody."""
    if isinstance(error, BrokenPipeError):  # whoever reads, such as `head`, has seen enough
        return PIPE_CLOSED
    _say(f"Standard output cannot be written ({error.strerror or error}); send it elsewhere, such as to a file.")
    return 2


def _sentence(error: Exception) -> str:
    """What to tell of an error."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return "This takes more memory than there is; choose smaller sizes."
    if isinstance(error, OSError):
        where = "" if error.filename is None else f" with '{error.filename}'"
        return f"The system refuses what is to be done{where} ({error.strerror or error})."
    return f"{error} This looks like a fault of merlax: --debug shows where."


def _say(sentence: str) -> None:
    """One line on standard error, whatever names it quotes: no control sign reaches the terminal."""
    words = _LONG.sub(lambda word: f"{word[0][:100]} … {word[0][-100:]}", " ".join(sentence.split()))
    print("merlax:", "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words), file=sys.stderr)


def _dispatch(args: list[str]) -> int:
    if not args or args[0] in ("-h", "--help"):
        _help()
        return 0 if args else 2
    if args[0] in ("-V", "--version"):
        print(f"merlax {importlib.metadata.version('merlax')}")
        return 0
    name, *rest = args
    if name not in COMMANDS:
        raise UserError(f"There is no command '{name}'{suggest(name, list(COMMANDS))}; `merlax --help` lists them.")
    return COMMANDS[name](rest)


def _help() -> None:
    print("usage: merlax COMMAND [OPTIONS]\n\nmerlax trains teams of agents (MERL).\n\ncommands:")
    for name, command in COMMANDS.items():
        print(f"  {name:<16} {(command.__doc__ or '').splitlines()[0]}")
    print("\n`merlax COMMAND --help` explains every option; `merlax --version` says which merlax this is;")
    print("--debug shows the traceback of an error.")


if __name__ == "__main__":
    sys.exit(main())
