"""The sentences of docs/experiments.md; all numbers in it are rendered from the records."""

HEAD = """
# The fifteen panels

Section 6 and Appendix E of the paper, run again. Five figures with three panels each: (p, R) = (0.1, 0.1) is panel a,
(0.05, 0.2) is b, (0.1, 0.2) is c. Printed: gamma, alpha, beta, horizon 100, uniform behaviour, thirty runs, envelopes
at the 5th and 95th percentile. Not printed: nearly everything else; each such choice is a named interpretation.
Rendered from `benchmarks/experiments/results.json`; do not edit.

Learners that are compared walk the same walk (the behaviour policy does not depend on Q), so a run is a pair and its
score a difference. Policies are evaluated exactly on the unperturbed MDP over the horizon. A curve is scored by its
second half, because with constant steps the greedy policy never settles.
"""

SHORT = """
- **TDC.** With features drawn anew for every run robust TDC diverges in {robust_diverged} of the runs (panels a, b,
  c), vanilla TDC in {vanilla_diverged}. The growth of the recursion far out decides: it is above zero for
  {robust_grows} of {draws} draws of the features under robust TDC, for {vanilla_grows} under vanilla TDC. The one
  draw that the default interpretation uses for all runs is an example.
- **FrozenLake.** Both learners are at the level of no skill with the printed constant step: robust Q-learning earns
  {lake_robust}, vanilla {lake_vanilla}, the best constant action {lake_constant}, the optimum {lake_optimum}.
- **RARL.** Robust Q-learning earns more than RARL in the worst-case test, by {rarl} of the scale; plain Q-learning on
  the same samples earns more than robust Q-learning, by {plain}; when robust Q-learning trains on the perturbed MDP
  panel a is {turned} ({turned_size} of the scale).
- **Taxi.** The trend that is found is a deficit that shrinks: robust Q-learning is behind vanilla by {taxi} of the
  scale, less where p is larger.
- **CartPole and the rest.** On FrozenLake and CartPole robust Q-learning is vanilla Q-learning at discount γ(1−R),
  bit for bit; on CartPole it is behind vanilla by {pole} of the scale.
"""

OUTCOMES = """
Effects are in units of the way from no skill to the optimum (rewards) or in powers of ten (gradients); positive
favours the paper. A panel's outcome is that of its first claim; the others are listed below. *By the median* is the
outcome that needs no assumption on the law of the scores, *Student misses* how often Student's 99.9 % interval misses
when runs are drawn again (0.1 % is right): the assumption behind the outcomes holds.
"""

SIZES = """
**A reversal may be small.** The rule asks more of *reproduced* than of *reversed*: the paper's 'much' is a tenth of
the scale (log10 2 for gradients), so its words need an interval above that, while any interval below 0 is *reversed*,
however near to 0. The rule was fixed in advance and stays; the size stands beside the word for this reason. Of the
{reversed} reversals these are as large, by the whole interval, as what *reproduced* asks for: {large}. The others are
not: {small}. The median, which is less sharp than the mean, gives another word to: {weaker}.
"""

DRAWS = """
**TDC's result is that over draws of the features.** The paper draws the features at random and does not say when. With
features drawn anew for every run robust TDC diverges in {robust} of the runs (panels a, b, c), vanilla TDC in
{vanilla}. The default interpretation has one draw for all runs: it is an example, and its effect and its narrow
interval are those of this draw and of no other. The sign of the effect is the same under all draws that were
tried, the size is not:
"""

DIVERGENCE = """
**'Vanilla TDC may diverge (Fig. 3(c)), while robust TDC still converges': {verdict}.** The counts are of vanilla and
robust runs that diverged, that is whose last squared gradient exceeds 10⁶. The shares get intervals that hold together
at 99.9 %; *reproduced* if vanilla's lies above robust's and no robust run diverged, *direction only* if it lies above,
*reversed* if it lies below. This rule was made when the counts were known. Taken alone, 'vanilla may diverge' is true
wherever its count is not 0.
"""

GROWTH = """
**What decides divergence: the growth of the recursion far out.** Far out costs do not count and the smooth maximum is
V at one state: a step of TDC is x ↦ A(s, s', s*)x on x = (theta, omega). The mean of log(‖x_T‖/‖x_0‖) over a horizon
of T = {horizon} steps, measured on {blocks} horizons of one long walk (`benchmarks/experiments/growth.py`), decides
for a draw: below zero no run diverges, above zero every run does, after about {needed:.0f} divided by the growth
horizons. Checked against runs of {horizon} and of {longer} times as many steps, for {draws} draws of the features: of
the draws whose interval lies below zero no run diverged; of those with a growth of at least {surely:.1f} all runs
diverged within {longer} horizons. So the shares above (one horizon) are a lower bound: in the long run robust TDC
diverges for most draws, vanilla TDC for hardly any. The growth is measured. Certified by interval arithmetic is the
rate of the mean square, ½T log of the factor by which E‖x‖² grows per step (`mean_square_rate`; the proof is in
`oracles/linear/second_moments.py`): for vanilla TDC of the recursion itself, for robust TDC of the recursion with the
maximum held at one state, which is the true one while V stays largest there. For draw 0 of panel c it is 22.35
(robust, held at state 14; measured 21.6) and −1.51 (vanilla; −2.0), for draw 1 of panel a −1.67 (robust, the largest
of all states; −2.1) and −11.28 (vanilla; −11.7). Below zero E‖x‖² of vanilla TDC stays bounded for ever. For robust
TDC nothing is certified while theta moves between the cones of two states.
"""

INTERPRETATIONS = """
The effect of the first claim is in brackets. Bold marks a panel that an interpretation turns for the paper
(*reproduced* or *direction only*) or against it; like a reversal, a turn may be small. *not reproduced* beside
*reversed* at the same effect only says that fewer runs were made.
"""

TREND = """
The paper says of Figures 1, 2 and 5 that the advantage grows with p and R. Panel c has a larger R than
a and a larger p than b. The words name no size, so growth that is found is *reproduced*; but where the advantage is
negative, growth only means that the deficit shrinks. That is so on Taxi for p: robust Q-learning is behind in all three
panels, and less so where p is larger.
"""

POLE = """
CartPole's state is continuous. All interpretations but one replace it by a Markov model of cells and one fallen state:
the law of a cell is that of 4⁴ points spread evenly over it, each moved by one step of Gymnasium's equations (speeds
beyond the outer cells count as in them). What this means: after every step the model forgets where in its cell the
pole was and smears it over the cell, so that its rewards are not those of the cart and pole, in either direction
(table), nor is its optimum; but planning, evaluation and the limits are exact. The interpretation *real-dynamics* is
the check: the cart and the pole move by their own equations, in training and in the test, and only the learners see
cells (which then are not Markov); the scale ends at never falling instead of the optimum, and the test is by Monte
Carlo. A first look with thirty runs found effects of the same sign which its intervals could not tell from 0; the
number of runs was then set to that of the default interpretation. Another liberty of the default is the start: the
cell of (0, 0, 0, 0), which lies on an edge, so that the pole always leans and turns to the same side at first.
Gymnasium's start within ±0.05 lies in four cells with equal probability, two for the angle and two for its speed
(drawn-start).
"""

VALUES = """
Mean reward of the plateau, and what needs no learning: the optimum of the unperturbed MDP, the best constant action,
the uniform policy, and the policies to which the two learners converge when alpha → 0 (planned exactly on the training
MDP). The last column counts the runs in which robust Q-learning and vanilla Q-learning with discount gamma(1−R) had
the same greedy policy at all checkpoints.
"""

MONTE_CARLO = """
The paper's way, thirty trajectories of horizon 100 for the last policy of each of thirty runs, against the exact value
of the same policies; z is the error in standard errors.
"""

WHY = """
**Robust Q-learning here is vanilla Q-learning with a shorter horizon.** Rewards on FrozenLake and CartPole are never
negative, so the worst state is a terminal one, with value 0, from the first step to the last: the term γ R max V
of the update is exactly 0 and what is left is the vanilla update with discount γ(1−R). The two agree bit for bit,
run by run (last column of the table of values, and a test). On Taxi the worst state is not terminal and the term is a
moving constant, the same for all pairs; the two agree up to noise. This is the closed form of the contamination model
(but for terminal states, whose value does not move): its greedy policy is that of the discount γ(1−R). Whatever a
panel shows, a shorter discount alone shows too, and robustness to the perturbation is not what is seen.

**Vanilla Q-learning is already shortened by the perturbation.** A uniform jump with probability p adds γ p mean V
to all pairs of non-terminal states alike, so (but for terminal states) on the perturbed MDP vanilla Q-learning plans
with discount γ(1−p), robust Q-learning with γ(1−p)(1−R). The test is on the unperturbed MDP with discount
γ: the smaller discount is the further one from the tested criterion. Where the limits differ (columns α → 0),
robust is the worse one.

**FrozenLake: with a constant step of 0.8 neither learner learns.** On a slippery lake both earn what the best constant
action earns (table of values), about a seventh of the optimum, although both would find good policies as α → 0: the
finding is that both are at the level of no skill, and the comparison is between two policies that have learned next to
nothing. Whether the lake is slippery decides. On a lake that is not slippery the claim is reproduced: a wasted move
costs a factor γ² and a shorter discount makes that gap larger against the noise of the jumps. The control with discount
γ(1−R) gains the same, to the bit. What a step is paid (gym-reward: what it earned, not what it earns on average)
decides the sign of differences that are below three hundredths of the scale, and not the same way in all panels.

**CartPole: a fall that only costs one step.** When a fallen pole is an ordinary state that leads back to the start
(restart) a fall costs next to nothing, the action gaps shrink against the noise of the jumps, and the learner with the
shorter discount is ahead: robust beats vanilla, and vanilla with discount γ(1−R) beats robust by more. The
policies to which they converge are the same optimum.

**TDC: the robust learner is the one that diverges.** With the printed steps α = 0.1, β = 0.5 and features whose norm
exceeds 1 (the paper's assumption of bounded features does not hold for its own features), robust TDC grows without
bound in the default interpretation, while vanilla TDC, which sees the same walk, stays. With other features fewer runs
diverge within the horizon, or none (second-features), and robust TDC has the larger gradient all the same. The averaged
recursion is stable for every draw that was tried and decides nothing; the growth of the recursion far out decides
(table of growths). It is above zero for most draws of the features and below zero for nearly all draws under vanilla
TDC: runs that have not diverged within the horizon are mostly runs that were stopped early. With a thirtieth of both
steps (small-steps) no run diverges, and the two learners are close. Projection stops the growth, not the oscillation:
theta is held at the boundary of the ball. When terminal states have value 0 (tdc-episodic) robust TDC is stable and has
the smaller gradient of the *robust* J, which vanilla TDC does not minimise; when each is measured by its own J
(tdc-episodic-own) vanilla is ahead again. So which J is plotted decides the panel even where robust TDC converges.

**RARL loses because it alone trains with noise.** *Reproduced* needs two sentences beside it: plain Q-learning on the
same samples beats robust Q-learning in the same worst-case test (table of values), and training on perturbed samples
turns panel a. Taxi is deterministic, and in the default interpretation robust
Q-learning trains on it as it is: constant steps do no harm there. RARL's agent trains where every step is a jump with
probability R, with the same constant step. Vanilla Q-learning on the quiet MDP beats RARL by the same distance as
robust Q-learning does, and a little more. When robust Q-learning trains on jumps too
(perturbed-training, jumps with probability p) the outcome follows the noise: robust is ahead where p is much smaller
than R (panel b), behind where they are equal (panel a). A stronger or an exact adversary does not help RARL: it makes
the jumps worse, not the learning quieter.
"""

REPRODUCE = """
`robust-core panels` runs the fifteen panels with their controls, `robust-core panels --panel ID --interpretation NAME`
one of them, and prints outcomes (`--json`: the records). `robust-core panels --write` runs all panels under all
interpretations and writes the results, `robust-core documents experiments` this document. `--workers N` and
`--cluster ADDRESS` spread the work; every finished record is kept in a store, so that a job that was stopped goes on
where it was. A record is a function of the panel, the interpretation and the number of runs: the same bits on the same
kind of machine and libraries, wherever it is computed.
"""
