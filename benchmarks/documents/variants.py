"""docs/variants.md: the contract of a variant.

The examples, the promises, the laws and the verdicts on the injected bugs are taken from the code.
"""

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


ARGUMENTS = (
    ("`name`", "a text for the output"),
    ("`kind`", "the type of algorithm, one of the sections below; it decides the signature of `make`"),
    ("`make`", "the algorithm: a factory of learners, or a function"),
    ("`sets`", "a tuple of the classes of [uncertainty sets](sets.md) that it is for, for example `(Contamination,)`"),
    ("`promises`", "a tuple of the [promises](#promises) that it makes ([how to choose](promises.md))"),
    ("`options`", "further facts about the algorithm, see [Options](#options)"),
)
FIELDS = (
    ("`n_states`, `n_actions`, `gamma`", "the sizes and the discount; the transition probabilities are never given"),
    ("`uncertainty_set`", "the set, with its `radius`"),
    ("`initial`", "the first estimate"),
    ("`step_size`", "`step_size.at(n)` is alpha, n the number of earlier visits or steps, see below"),
    ("`rng`", "the only source of random numbers"),
    ("`policy`", "the policy to evaluate (evaluation)"),
    ("`features`, `smoothing`", "phi and the smooth maximum (linear learners)"),
    ("`second_step_size`, `projection`", "beta and the radius K of the projection (linear learners)"),
)
HEAD = """# Kinds of variants

This page is written by `robust-core documents variants`. The code is that of `properties/variants/examples/`, which the
tests verify, and the tables are generated from the laws.

A variant is an algorithm under test: a description and a factory or function.

```python
Variant(name, kind, make, sets, promises, options={{}})
```

{arguments}

The kind, the sets, the promises and the options determine which laws are tested; the name has no influence. A promise
that is not made is not tested. There is no base class and no registration. `robust-core verify my_file.py` checks every
variant in a file, and `robust-core verify my_lab.module:NAME` checks one in a module. A package can publish variants
under separate names:

```toml
[project.entry-points."robust_core.variants"]
my-q-learning = "my_lab.q_learning:MINE"
```

`robust-core verify my-q-learning` then finds it wherever the package is installed.

A misspelt promise, or one of another kind, is an error before any law is tried (exit code 2). A promise that no law can
test for a set of the variant has the verdict *untested*, which names the set (exit code 3, see
[Verdicts](verdicts.md)).

## Options

{options}

## What a learner receives

{fields}

If `step_size.clock` is "visits", n is the number of earlier visits of the updated entry. If it is "steps", n is the
number of earlier steps. If it is "constant", alpha does not depend on n. A transition is
`(s, a, cost, s_next, a_next, terminal)`. If `terminal` is true, the episode ends: use 0 in place of V(s_next). `s_next`
and `a_next` are then arbitrary and must not be used. `update_many(recording)` is an optional fast path. For every
learner its results must be those of the loop over `update`, bit for bit (law *batch*, on generated paths with the same
rng). The promise `fast path` adds a statistical test of the same property, on long runs with independent samples.
"""

MISBEHAVIOUR = """## What a variant must not do

Each of these is a violation, whatever the variant computes, and the run continues with the next law:

- raise an exception on a problem that its sets and options allow;
- hang, or use more than a few seconds of processor time for one small problem;
- end its process, or ask for more than a few gigabytes of memory;
- return NaN, infinity, or an array whose shape is not that of the given estimate or whose type is not float64;
- write into its arguments (problem, tables, kernels);
- return its own buffer: writing to a returned estimate must not change the learner;
- draw random numbers from any source but the given rng, or print;
- share state between learners, or lose state when it is copied;
- depend on how often its estimate is read.

A warning (for example of numpy) violates no law; the evidence of a law that holds lists the warnings.
"""


def document() -> str:
    """The whole document."""
    head = HEAD.format(
        arguments=table(["argument", "meaning"], ARGUMENTS),
        options=_options(),
        fields=table(["field of `problem`", "meaning"], FIELDS),
    )
    return "\n".join([head, *(_section(kind) for kind in KINDS), _promises(), _always(), MISBEHAVIOUR])


def _options() -> str:
    return table(["option", "meaning"], [[f"`{name}`", meaning] for name, meaning in OPTIONS.items()])


def _section(kind: Kind) -> str:
    example = kind_of(kind).example
    law = first_violated(variant_of(source_with_bug(kind, example)))
    assert law is not None, f"the bug in the example of {kind!r} is not found"
    return (
        f"## {kind}\n\n`make` is {example.called}.\n\n```python\n{source(kind)}```\n\n"
        f"With the bug `{example.wrong}` in place of `{example.right}` the law **{law.name}** is violated:\n"
        f"{law.statement}.\n"
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
    return f"## Promises\n\n{table(['promise', 'kinds', 'meaning', 'laws that test it'], rows)}\n"


def _always() -> str:
    rows = [[law.name, ", ".join(law.kinds), law.statement] for law in LAWS if law.promise is None]
    return f"## Laws that need no promise\n\n{table(['law', 'kinds', 'statement'], rows)}\n"
