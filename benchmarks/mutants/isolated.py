"""The row of the kill matrix for a user's mutant, judged in a process of its own: it may hang, die or eat memory.

The suite's own mutants do none of that, and share the problems that are drawn in one process.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import count
from multiprocessing.connection import Connection

from benchmarks.mutants.matrix import Kill, kill_by, problems
from properties.judging.blame import CannotBeJudged
from properties.judging.verification import applicable
from properties.process import child
from properties.process.child import Child
from properties.process.loading import load
from robust_core.problem import Variant


def kills(
    key: str,
    variant: Variant,
    *,
    examples: int,
    seed: int,
    tick: Callable[[str, str], None],
    seconds: float = child.SECONDS,
) -> Iterator[Kill]:
    """As `kill_matrix` of the one mutant; a problem at which its process hangs or dies is one that it fails."""
    laws = [law.name for law in applicable(variant)]
    done = 0
    while done < len(laws):
        order = {"target": key, "laws": laws[done:], "examples": examples, "seed": seed}
        with Child(_serve, json.dumps(order)) as worker:
            problem = 0
            while done < len(laws):
                at_work = partial(tick, key, laws[done])
                at_work()
                message = worker.message(seconds, waiting=at_work)
                if "problem" in message:
                    problem = message["problem"]
                    continue
                if "error" in message:
                    raise RuntimeError(message["error"])
                if "fault" in message:
                    finding = child.misconduct(message)
                    yield Kill(key, variant.name, variant.kind, laws[done], max(problem, 1), 0.0, finding)
                else:
                    yield Kill(**message["kill"])
                done, problem = done + 1, 0
                if "fault" in message:
                    break


def _serve(connection: Connection, text: str) -> None:
    """The child: one law after the other; every problem is announced before it is judged."""
    order = json.loads(text)
    send = child.sender(connection)
    child.settle()
    child.keep_notes_elsewhere()
    try:
        (variant,) = load(order["target"]).values()
        for law in applicable(variant):
            if law.name in order["laws"]:
                cases = problems(law, variant, examples=order["examples"], seed=order["seed"])
                numbers = count(1)
                kill = kill_by(law, order["target"], variant, cases, lambda: send({"problem": next(numbers)}))  # noqa: B023
                send({"kill": asdict(kill)})
    except ConnectionError:
        pass  # the parent has gone
    except Exception as error:
        send({"error": str(CannotBeJudged.because(error))})
