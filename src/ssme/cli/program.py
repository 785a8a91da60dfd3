"""The program: how a command is declared, and what an error looks like.

A command is a function; `register_command` says which options it has. They are read and checked
before it is called. Bad input ends in the error's own words and exit code 2, never in a traceback.
"""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ssme.cli.options import SHARED, list_flags, make_parameters, parse_flags, spell_with
from ssme.cli.output import Output
from ssme.cli.run import gather
from ssme.errors import InputError, MissingExtraError, Spelling, SsmeWarning, spell_options
from ssme.options import Declared, Option, list_declared
from ssme.wording import make_printable

CONDITION_FAILED = 1
BAD_INPUT = 2
FAULT = 70
"""An error in the program itself, which ends in a traceback."""
INTERRUPTED = 130
"""Ctrl-C, as a shell reports it."""
PIPE_CLOSED = 141
"""The reader of our output went away, as a shell reports it of other programs."""
WHEN_INTERRUPTED = "Interrupted. Every file is whole: the old one, the new one, or none."

UsageFault: Any = typer.BadParameter.__mro__[2]
"""What the parser raises for a command line it cannot read (click's, or typer's copy of it)."""

OTHER_NAMES: dict[tuple[str, str | None], str] = {
    ("evaluate", "--report"): "--html writes a report, and so does `ssme report`",
    ("serve", "--label"): "The page asks which column contains the labels",
    ("serve", "--groups"): "The page asks which columns contain groups",
}
"""Options that are looked for under another name, by command ("" is any): where to find them."""

SHOWN = 15
"""Options that the help of a command lists; `--help-all` lists all."""
FIRST_OPTIONS = ("help", "label", "models", "groups", "fail_under")
"""Options of many commands that help lists before a command's own."""
USUAL = (
    *("metrics", "labels_file", "threshold_for", "id", "cost", "method", "config", "html", "json"),
    *("force", "answers", "level", "random_state", "csv", "quiet", "ratings"),
    *("save_config", "metrics_json"),
)
"""Options of many commands in the order in which help has room for them, after a command's own."""
SEVERAL = "Options of type list take comma-separated names, or can be repeated."
PANELS = ("Evaluate", "Decide", "Try", "Look up")
FIRST = ("doctor", "evaluate", "systems", "report", "serve")
"""Commands that the program's help lists before the others of their panel."""
OF_SYSTEMS = {"--system", "--judge", "--judges"}
"""Options that only `systems` has, by which it is meant."""
WIDTH = 80
NARROWEST = 20
"""Columns of the narrowest terminal that text is laid out for."""


class Program(TyperGroup):
    """The program's own help, and how it ends."""

    def main(self, args: Any = None, prog_name: Any = None, **named: Any) -> Any:  # type: ignore[override]
        """Run a command line and exit; what the parser refuses is said as our own errors are."""
        if not named.pop("standalone_mode", True):
            return super().main(args, prog_name, standalone_mode=False, **named)
        make_streams_lenient()
        try:
            code = super().main(args, prog_name, standalone_mode=False, **named)
        except UsageFault as fault:
            code = BAD_INPUT
            _say_fault(fault, sys.argv[1:] if args is None else list(args))
        except typer.Abort:
            code = INTERRUPTED
        if code == INTERRUPTED:
            say(WHEN_INTERRUPTED)
        sys.exit(code)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the name of a command."""
        _take_texts(self, ctx)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named; `evaluate` of systems or judges is `systems`."""
        asked = {word.partition("=")[0] for word in args}
        if args[0] == "evaluate" and asked & OF_SYSTEMS:
            args = ["systems", *args[1:]]
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Commands by purpose, each with the first sentence of its help."""
        formatter.write(f"Usage: {ctx.command_path} COMMAND ...\n\n{_wrap(self.help or '', 0)}\n")
        for panel in PANELS:
            formatter.write(f"\n{panel}\n")
            first = {name: self.commands[name] for name in FIRST}
            for name, each in {**first, **self.commands}.items():
                if getattr(each, "rich_help_panel", None) == panel:
                    formatter.write(_format_entry(name, (each.help or "").split("\n\n")[0]))
        formatter.write("\nOptions\n")
        for parameter in self.get_params(ctx):
            names = ", ".join(sorted(parameter.opts, key=len))
            formatter.write(_format_entry(names, getattr(parameter, "help", None) or ""))
        formatter.write(f"\n{self.epilog}\n")


def _say_fault(fault: Any, words: Sequence[str]) -> None:
    """What the parser refuses; a command line without a command gets the help and no error."""
    where, told = getattr(fault, "ctx", None), fault.format_message()
    if told.startswith("Usage: ") or where is None:
        say(told)
        return
    option = getattr(fault, "option_name", None)
    named = OTHER_NAMES.get((where.info_name, option)) or OTHER_NAMES.get(("", option))
    if named:
        told = f"No such option: {option}. {named}."
    elif other := _find_command(where, words):
        told = f"No such option: {option}. Did you mean `{other}`?"
    ended = told if told.endswith("?") else f"{told.rstrip('.')}."
    say(f"Error: {ended} `{where.command_path} --help` lists the options.")


def _find_command(where: Any, words: Sequence[str]) -> str:
    """The same words after the only command that has all options among them; else nothing."""
    asked = {word.partition("=")[0] for word in words if word.startswith("-") and len(word) > 1}
    commands: dict[str, Any] = getattr(where.find_root().command, "commands", {})
    fitting = [
        name
        for name, each in commands.items()
        if asked <= {option for parameter in each.params for option in parameter.opts}
    ]
    if len(fitting) != 1 or where.info_name not in words:
        return ""
    at = words.index(where.info_name)
    return shlex.join(["ssme", *words[:at], fitting[0], *words[at + 1 :]])


def _take_texts(command: Any, ctx: Any) -> None:
    """Leave the values of all parameters as texts, which `parse_flags` reads.

    The parser would build a validator for each, given or not, and import a library for it.
    """

    def take(parameter: Any, _: Any, value: Any) -> Any:
        several = parameter.multiple if hasattr(parameter, "multiple") else parameter.nargs == -1
        value = () if value is None and several else value
        return value if parameter.callback is None else parameter.callback(ctx, parameter, value)

    for each in command.get_params(ctx):
        each.process_value = functools.partial(take, each)


class Command(TyperCommand):
    """A command that refuses options given twice, and whose help is short."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The usual options, or all of them."""
        listed: list[Any] = [
            each for each in self.get_params(ctx) if each.param_type_name == "option"
        ]
        many = {*SHARED, *FIRST_OPTIONS, *USUAL}
        own = [each.name for each in listed if each.name not in many]
        order = [*FIRST_OPTIONS, *own, *USUAL]
        usual = [each for name in order for each in listed if each.name == name]
        shown = listed if ctx.meta.get("help_all") else usual[:SHOWN]
        rest = [each for each in listed if each not in shown and not each.hidden]
        notes = [SEVERAL] if any(each.multiple for each in shown) else []
        if rest:
            noun = "option" if len(rest) == 1 else "options"
            notes.append(f"{len(rest)} more {noun}: `{ctx.command_path} --help-all`.")
        self.epilog = " ".join(notes) or None
        for each in rest:
            each.hidden = True
        super().format_help(ctx, formatter)
        for each in rest:
            each.hidden = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; an option of one value that is given twice is refused."""
        if "--help-all" in args:
            ctx.meta["help_all"], args = True, ["--help"]
        _take_texts(self, ctx)
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        parameters: list[Any] = self.params
        for parameter in parameters:
            times = sum(each is parameter for each in given)
            if times > 1 and not (parameter.multiple or getattr(parameter, "is_flag", False)):
                raise typer.BadParameter(
                    f"it takes one value and is given {times} times: keep one of them.",
                    ctx=ctx,
                    param=parameter,
                )
        return super().parse_args(ctx, args)


def _format_entry(name: str, text: str) -> str:
    return f"  {name:<21}{_wrap(text, 23).lstrip()}\n"


def _wrap(text: str, indent: int) -> str:
    margin = " " * indent
    words = " ".join(text.split())
    return textwrap.fill(words, WIDTH, initial_indent=margin, subsequent_indent=margin)


app = typer.Typer(
    name="ssme",
    cls=Program,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Know how good each classifier is, from a handful of labels and a pile of unlabeled rows.",
    epilog="Start with `ssme demo`, then `ssme doctor FILE`. `ssme COMMAND --help` has examples.",
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"ssme {version('ssme')}")
        except PackageNotFoundError:  # run from a source tree that was never installed
            from ssme import __version__

            print(f"ssme {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version),
]


@app.callback()
def program(version: Version = False) -> None:
    """What applies to every command."""


def register_group(panel: str, name: str, help_text: str) -> typer.Typer:
    """Register ``ssme <name>`` as the first word of several commands, listed under ``panel``."""
    several = typer.Typer(name=name, help=help_text, no_args_is_help=True)
    app.add_typer(several, rich_help_panel=panel)
    return several


def register_command(
    panel: str,
    reads: Sequence[Option] = (),
    asks: type[Declared] | None = None,
    writes: Sequence[Option] = (),
    *,
    name: str | None = None,
    of: typer.Typer | None = None,
) -> Callable[[Callable[..., None]], Any]:
    """Register a function as ``ssme NAME``, listed under ``panel``.

    The function gets ``spec``, the run that the options it ``reads`` make; ``output``, where what
    it ``writes`` goes; and ``asked``, an object of the class ``asks`` with its own options. With
    ``of``, a group made by `register_group`, it is ``ssme GROUP NAME``.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        home = app if of is None else of
        # each paragraph on one line, which the help wraps; examples keep their lines
        paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
        lines = (p if "[cyan]" in p else p.replace("\n", " ") for p in paragraphs)
        listed = home.command(
            name or function.__name__,
            cls=Command,
            rich_help_panel=panel,
            help="\n\n".join(lines),
        )
        listed(_read_flags(function, reads, asks, writes))
        return function

    return register


def _read_flags(
    function: Callable[..., None],
    reads: Sequence[Option],
    asks: type[Declared] | None,
    writes: Sequence[Option],
) -> Callable[..., None]:
    """``function`` as the parser calls it, with a value for each flag."""
    own = () if asks is None else list_declared(asks)
    spelling = spell_with(list_flags((*reads, *own, *writes)))

    @functools.wraps(function)
    def call(**given: Any) -> None:
        with _show_errors_as_messages(bool(given.get("quiet")), spelling):
            found: dict[str, Any] = {}
            if asks is not None:
                found["asked"] = asks(**parse_flags(given, own))
            if writes:
                targets = dict.fromkeys([each.name for each in writes]) | parse_flags(given, writes)
                more = {o.name: getattr(found["asked"], o.name) for o in own if o.writes}
                found["output"] = Output(targets, more)
                found["output"].refuse_inputs([given.get("config")])
            if reads:
                found["spec"] = gather(given, reads)
            function(**found)

    parameters = list(make_parameters((*reads, *own, *writes)))
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def main(run: Callable[[], Any] = app) -> None:
    """Run the program, or ``run`` in its place, and exit."""
    width = os.environ.get("COLUMNS", "")
    if width and not (width.isascii() and width.isdigit() and int(width) >= NARROWEST):
        del os.environ["COLUMNS"]  # nothing could be written in it: 0 means "not known"
    code: Any = 0
    closed = False
    try:
        run()
    except SystemExit as leaving:
        code, closed = leaving.code, _comes_from_closed_pipe(leaving)
    except Exception:
        traceback.print_exc()
        code = FAULT
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        closed = True
    if closed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
        code = PIPE_CLOSED
    sys.exit(code)


def make_streams_lenient() -> None:
    """Let what the terminal's encoding cannot write be escaped rather than refused.

    A stream that was closed before the program began leads nowhere: notes for a closed stderr
    would otherwise end up in a result on stdout.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """A line on stderr; what a terminal would obey is shown and not obeyed."""
    print(make_printable(text), file=sys.stderr, flush=True)


def _comes_from_closed_pipe(error: BaseException) -> bool:
    """Whether the end of the program goes back to a reader that closed our output."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BrokenPipeError):
            return True
        cause = cause.__context__
    return False


@contextmanager
def _show_errors_as_messages(quiet: bool, spelling: Spelling) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "always", SsmeWarning)
        warnings.showwarning = functools.partial(_show_warning, spelling, set())
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except InputError as error:
            say(" ".join([f"Error: {error.spell(spelling)}", *getattr(error, "__notes__", ())]))
            raise typer.Exit(BAD_INPUT) from None
        except (MissingExtraError, OSError) as error:
            say(f"Error: {error}")
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError as error:
            say(
                f"Error: out of memory{f' ({error})' if str(error) else ''}. "
                "Give fewer rows, or convert the file to Parquet and use --engine stream."
            )
            raise typer.Exit(BAD_INPUT) from None


def _show_warning(spelling: Spelling, shown: set[str], message: Warning | str, *_: Any) -> None:
    """Print a warning, once for a command that evaluates several times."""
    told = spell_options(getattr(message, "text", str(message)), spelling)
    if told not in shown:
        shown.add(told)
        say(f"Warning: {told}")
