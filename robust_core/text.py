"""Text for messages: names and values from outside in one short line, errors of the system in words."""

import signal
from collections.abc import Collection

LONGEST_REASON = 400
LONGEST_NAME = 80


def in_words(error: OSError) -> str:
    """The message of a system error with its file, without its number.

    >>> in_words(FileNotFoundError(2, "No such file or directory", "nowhere.json"))
    'nowhere.json: no such file or directory'
    """
    if error.strerror is None or error.filename is None:
        return str(error)
    return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"


def one_line(text: str) -> str:
    """The text with every character escaped that would start a line or control a terminal.

    >>> one_line("two\\nlines")
    'two\\\\nlines'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shorten(text: str, longest: int = LONGEST_REASON) -> str:
    """The text, or its beginning: a hostile value quoted in full would fill the screen.

    >>> shorten("abcdef", 4)
    'abcd…'
    """
    # A class of its own may lie about its length: a slice of text is plain text.
    beginning = str.__getitem__(text, slice(0, longest + 1))
    return beginning if len(beginning) <= longest else f"{beginning[:longest]}…"


def suggestion(word: object, known: Collection[str]) -> str:
    """A question where a word that is not known looks like one that is; else nothing.

    >>> suggestion("unbiassed", ["asynchronous", "unbiased"])
    "; did you mean 'unbiased'?"
    """
    import difflib

    by_form = {name.lower(): name for name in known}
    close = difflib.get_close_matches(str(word).lower(), by_form, n=1)
    return f"; did you mean {by_form[close[0]]!r}?" if close else ""


def message_of(error: BaseException) -> str:
    """The message of an exception, shortened; its class may come from a user."""
    try:
        return shorten(str(error))
    except (Exception, SystemExit, GeneratorExit, KeyboardInterrupt) as failure:  # but not the end of its time
        if is_ctrl_c(failure):
            raise
        return "(its message cannot be read)"


def is_ctrl_c(error: BaseException) -> bool:
    """Whether it is the user who wants to stop: where Ctrl-C is ignored, a module has raised what it would raise."""
    return isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def error_text(error: BaseException, message: str | None = None) -> str:
    """The type and the message of an exception in one short line.

    >>> error_text(ValueError("first\\nsecond"))
    'ValueError: first\\\\nsecond'
    """
    # The name of the class, whatever its own class says about it.
    name = one_line(shorten(type.__dict__["__name__"].__get__(type(error)), LONGEST_NAME))
    return f"{name}: {one_line(message_of(error) if message is None else shorten(message))}".removesuffix(": ")


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "law"), plural(3, "law")
    ('1 law', '3 laws')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"
