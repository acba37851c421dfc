"""What the programs beside it share: the server that they call, and how they say what came of a call."""

import sys

BASE, TOKEN = sys.argv[1], sys.argv[2]


def told(call, run):
    """Writes a line `call<TAB>answer`."""
    try:
        answer = run()
    except Exception as error:  # What the client raises is what the test compares.
        answer = f"{type(error).__name__}: {error}".replace("\n", " ")
    print(f"{call}\t{answer}")


def refused(expected, run):
    """The name of the error that a call ends with."""

    def checked():
        try:
            run()
        except expected as error:
            return type(error).__name__
        return "answered"

    return checked
