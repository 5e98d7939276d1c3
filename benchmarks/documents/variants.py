"""docs/variants.md: the contract of a variant.

The examples, the promises, the laws and the verdicts on the injected bugs are taken from the code.
"""

import textwrap
from importlib.resources import files
from typing import Any

from benchmarks.documents.markdown import table
from properties.judging.search import search
from properties.judging.verification import applicable
from properties.kinds import Example, kind_of, module_name
from properties.laws.catalogue import LAWS
from properties.laws.law import PROMISES, Law
from robust_core.problem import KINDS, OPTIONS, Kind, Variant

EXAMPLES = 100
WIDTH = 120


def source(kind: Kind) -> str:
    """The text of the example of a kind."""
    return (files("properties.variants.examples") / f"{module_name(kind)}.py").read_text(encoding="utf-8")


def source_with_bug(kind: Kind, example: Example) -> str:
    """The same with the bug."""
    text = source(kind)
    if text.count(example.right) != 1:
        name = f"{module_name(kind)}.py"
        raise ValueError(f"{name} must have {example.right!r} once, it has it {text.count(example.right)} times")
    return text.replace(example.right, example.wrong)


def variant_of(source: str) -> Variant:
    """The variant that a module with this source defines; the source is executed."""
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(compile(source, "example", "exec"), namespace)
    variant = namespace["VARIANT"]
    assert isinstance(variant, Variant)
    return variant


def first_violated(variant: Variant) -> Law | None:
    """The first exact law that the variant breaks."""
    for law in applicable(variant):
        if search(law, variant, examples=EXAMPLES, master_seed=0, shrink=False).outcome == "violated":
            return law
    return None


HEAD = """# Variants

This page is written by `robust-core documents variants`: the code below is that of
`properties/variants/examples/`, which the tests verify, and the tables are read off the laws.

A variant is an algorithm under test: a frozen description and a factory or function.

```python
Variant(name, kind, make, sets, promises, options={{}})
```

`kind` says what `make` is, `sets` which uncertainty sets it is for, `promises` what it promises. The checks
follow from kind, sets and promises alone: no law knows a variant by its name, and a promise not made is not tested.
There is no base class and no registration. `robust-core verify my_file.py` checks every variant in a file,
`robust-core verify my_lab.module:NAME` one in a module, and a package publishes variants by name as entry points:

```toml
[project.entry-points."robust_core.variants"]
my-q-learning = "my_lab.q_learning:MINE"
```

after which `robust-core verify my-q-learning` finds it wherever the package is installed.

[Which promises should my algorithm make?](promises.md) helps to choose. A promise that is misspelt or belongs to
another kind is an error before any law is tried (exit code 2). A promise that no law tests for a set of the variant
is listed as undecided, with the word *untested* and the set.

{options}

## What a learner is told

`problem` has `n_states`, `n_actions`, `gamma`, `uncertainty_set`, `step_size`, `initial` (the first estimate) and
`rng`; for evaluation `policy`; for linear evaluation also `features`, `smoothing`, `second_step_size` and `projection`.
It never has the kernel. `step_size.at(n)` is alpha; n counts what `step_size.clock` says, before the update: the steps
so far ("steps"), or the visits of the entry that is updated ("visits"). A transition is
`(s, a, cost, s_next, a_next, terminal)`; a terminal one has no following value. `update_many(recording)` is an optional
fast path, which must give the bits of the loop over `update`.
"""

MISBEHAVIOUR = """## What a variant must not do

Each of these gets a verdict in plain words, whatever the variant computes, and the suite goes on:

- raise, on any problem of its sets and options;
- hang, or take more than a few seconds of the processor for one small problem;
- end its process, or ask for more than a few gigabytes;
- return nan, infinity, another shape than it was given, or another type than float64;
- write into what it is given: problem, tables, kernels are the caller's;
- hand out its own buffer: an estimate that is overwritten must not change the learner;
- draw from anything but the rng it is given, or print;
- share state between learners, or lose it when it is copied;
- depend on how often its estimate is read.

A warning (of numpy, say) breaks no law; the evidence of a law that holds says which there were.
"""


def document() -> str:
    """The whole document."""
    head = HEAD.format(options=_options())
    return "\n".join([head, *(_section(kind) for kind in KINDS), _promises(), _always(), MISBEHAVIOUR])


def _options() -> str:
    named = ", ".join(f"`{name}` ({meaning})" for name, meaning in OPTIONS.items())
    return textwrap.fill(f"`options` narrow the problems to what the variant is for: {named}.", WIDTH)


def _section(kind: Kind) -> str:
    example = kind_of(kind).example
    law = first_violated(variant_of(source_with_bug(kind, example)))
    assert law is not None, f"the bug in the example of {kind!r} is not found"
    return (
        f"## {kind}\n\n`make` is {example.called}.\n\n```python\n{source(kind)}```\n\n"
        f"A bug: `{example.wrong}` for `{example.right}`. The suite says:\n"
        f"violated, **{law.name}**: {law.statement}.\n"
    )


def _promises() -> str:
    from properties.statistics.law import PROMISES as PROMISED
    from properties.statistics.laws import laws

    statistical = laws()
    rows = []
    for promise, meaning in {**PROMISED, **PROMISES}.items():
        exact = [law for law in LAWS if law.promise == promise]
        sampled = [law for law in statistical if law.promise == promise]
        spoken_of = {kind for law in exact for kind in law.kinds} | {kind for law in sampled for kind in law.kinds}
        kinds = [kind for kind in KINDS if kind in spoken_of]
        names = [law.name for law in exact] + [f"{law.name} (statistical)" for law in sampled]
        rows.append([f"`{promise}`", ", ".join(kinds), meaning, "; ".join(names)])
    return f"## Promises\n\n{table(['promise', 'kinds', 'what it says', 'laws that test it'], rows)}\n"


def _always() -> str:
    rows = [[law.name, ", ".join(law.kinds), law.statement] for law in LAWS if law.promise is None]
    return f"## Laws that need no promise\n\n{table(['law', 'kinds', 'what it says'], rows)}\n"
