"""The sentences of docs/experiments.md; all numbers in it are rendered from the records."""

HEAD = """
# The fifteen panels

This page reports a reproduction of Section 6 and Appendix E of the paper. There are five figures with three panels
each: panel a has (p, R) = (0.1, 0.1), panel b (0.05, 0.2), and panel c (0.1, 0.2). Here p is the probability of a
uniform jump in the perturbed MDP, and R is the radius. The paper gives gamma, alpha, beta, the horizon 100, the uniform
behaviour policy, thirty runs, and envelopes at the 5th and 95th percentile. It leaves nearly everything else open, and
each such choice is a named interpretation. The page is generated from `benchmarks/experiments/results.json`; do not
edit it.

Learners that are compared use the same walk, because the behaviour policy does not depend on Q. So a run is a pair, and
its score is a difference. Policies are evaluated exactly on the unperturbed MDP over the horizon. The score of a curve
is that of its second half, because with constant steps the greedy policy does not converge. Differences of rewards are
given as parts of the *scale*: the distance from no skill (the better of the uniform policy and the best constant
action) to the optimum.
"""

SHORT = """
- **TDC.** If the features are drawn anew for every run, robust TDC diverges in {robust_diverged} of the runs (panels
  a, b, c), and vanilla TDC in {vanilla_diverged}. The growth rate of the recursion for large theta decides: it is above
  zero for {robust_grows} of {draws} draws of the features under robust TDC, and for {vanilla_grows} under vanilla TDC.
  The default interpretation uses one draw for all runs, which is only an example.
- **FrozenLake.** With the printed constant step neither learner is much better than a constant action: robust
  Q-learning earns {lake_robust}, vanilla {lake_vanilla}, the best constant action {lake_constant}, and the optimum
  {lake_optimum}.
- **RARL.** Robust Q-learning earns more than RARL in the worst-case test, by {rarl} of the scale. But plain Q-learning
  on the same samples earns more than robust Q-learning, by {plain}. And if robust Q-learning trains on the perturbed
  MDP, panel a is {turned} ({turned_size} of the scale).
- **Taxi.** The trend that was found is a shrinking deficit: robust Q-learning is behind vanilla by {taxi} of the
  scale, less where p is larger.
- **CartPole and the rest.** On FrozenLake and CartPole robust Q-learning is vanilla Q-learning at discount γ(1−R),
  bit for bit. On CartPole it is behind vanilla by {pole} of the scale.
"""

OUTCOMES = """
Effects of rewards are fractions of the distance from no skill to the optimum; effects of gradients are powers of ten.
A positive effect favours the paper. The outcome of a panel is that of its first claim; the others are listed below.
*By the median* is the outcome that needs no assumption on the distribution of the scores. *Student misses* says how
often Student's 99.9 % interval misses when runs are resampled. It should be 0.1 %, and it is close to that, so the
assumption behind the outcomes is satisfied.
"""

SIZES = """
**A reversal may be small.** The rule asks more of *reproduced* than of *reversed*. The paper's 'much' is a tenth of the
scale (log10 2 for gradients), so *reproduced* needs an interval above that, while any interval below 0 is *reversed*,
even close to 0. These thresholds were fixed before the runs (the scale was changed once, see [The rule](#the-rule)).
For this reason the table shows the size next to the outcome. Of the {reversed} reversals, these are as large by the
whole interval as *reproduced* requires: {large}. The others are not: {small}. The median, which is less sharp than the
mean, gives another outcome to: {weaker}.
"""

DRAWS = """
**The result for TDC is the one over draws of the features.** The paper draws the features at random and does not say
when. If they are drawn anew for every run, robust TDC diverges in {robust} of the runs (panels a, b, c), and vanilla
TDC in {vanilla}. The default interpretation has one draw for all runs. It is an example: its effect and its narrow
interval belong to this draw only. The sign of the effect is the same under all draws that were tried; the size is not:
"""

DIVERGENCE = """
**'Vanilla TDC may diverge (Fig. 3(c)), while robust TDC still converges': {verdict}.** The table counts the vanilla and
robust runs that diverged, that is, whose last squared gradient exceeds 10⁶. The shares get intervals that hold jointly
at 99.9 %. The claim is *reproduced* if the interval of vanilla lies above that of robust and no robust run diverged,
*direction only* if it lies above, and *reversed* if it lies below. This rule, unlike the others, was written after the
counts were known. Taken alone, 'vanilla may diverge' is true if its count is not 0.
"""

GROWTH = """
**The growth rate for large theta decides divergence.** For large theta costs are negligible and the smooth maximum is V
at one state k: a step of TDC is x ↦ A(s, s', k)x on x = (theta, omega). The growth rate is the mean of
log(‖x_T‖/‖x_0‖) over a horizon of T = {horizon} steps, measured on {blocks} horizons of one long walk from theta =
(1, …, 1) (`benchmarks/experiments/growth.py`). If it is below zero, no run diverges; if it is above zero, every run
diverges, after a number of horizons of about {needed:.0f} divided by the rate. This was checked against runs of
{horizon} steps and of {longer} times as many, for {draws} draws of the features. No run diverged for a draw whose
interval lies below zero, and all runs diverged within {longer} horizons if the rate was at least {surely:.1f}. So the
shares above (one horizon) are a lower bound: in the long run robust TDC diverges for most draws, vanilla TDC for hardly
any.
"""

MEAN_SQUARE = """
The growth rate is measured. The rate of the mean square, ½T log of the factor by which E‖x‖² grows per step, is
certified by interval arithmetic (proofs in `oracles/linear/second_moments.py`). For vanilla TDC it is that of the
algorithm itself: below zero E‖x‖² stays bounded, above zero it grows geometrically from all starts but at most one. For
robust TDC it is that of the recursion with the maximum held at the state where V is largest most often; the column
*steps there* has the smallest and the median share of these steps. The signs of rate and measured growth agree for
{agree} of the {decided} cases in which both are decided{others}.
"""

BOUNDS = """
Two theorems certify robust TDC itself, across the regions of the maximum ([T7](theorems.md)). *Bounded*: E‖x‖² stays
bounded from every start, if a quadratic Lyapunov function works for all states at which the maximum can be. It is
certified for {bounded} (`robust-core study bounds`){open_cases}. For tdc-c, draw 22, the semidefinite program has no
solution; the other open draws were not tried. *Grows*: no draw with growth above zero is certified. The theorem needs a
cone on which the maximum stays at one state; it was tried for draws 0, 5, 6 and 12 of panel c, which grow fastest, and
the semidefinite program has no solution, even with the maximum at one state in more than 99 % of the steps of the walk.
We think that a quadratic function cannot exclude the rare steps out of the cone sharply enough. For these draws the
divergence is measured and the rate with the maximum held is certified. For a small example with one feature the growth
of robust TDC is certified while vanilla TDC stays bounded (T7).
"""

INTERPRETATIONS = """
The effect of the first claim is in brackets. Bold marks a panel whose result an interpretation flips, for the paper
(*reproduced* or *direction only*) or against it (*reversed*); like a reversal, a flip may be small. Changes to or from
*not reproduced* are not marked. If one interpretation has
*not reproduced* and another *reversed* at the same effect, the first had fewer runs.
"""

TREND = """
The paper says of Figures 1, 2 and 5 that the advantage grows with p and R. Panel c has a larger R than panel a and a
larger p than panel b. The paper names no size, so any growth is *reproduced*. But if the advantage is negative, growth
only means that the deficit shrinks. This is the case on Taxi for p: robust Q-learning is behind in all three panels,
and less so where p is larger.
"""

POLE = """
CartPole's state is continuous. All interpretations but one replace it by a Markov model of cells and one fallen state:
the next state of a cell is that of 4⁴ points spread evenly over it, each moved by one step of Gymnasium's equations
(speeds beyond the outer cells are counted in them). So after every step the model forgets where in its cell the pole
was. Its rewards are higher or lower than those of the cart and pole (table), and its optimum differs too; but planning,
evaluation and limits are exact. The interpretation *real-dynamics* is a check: the cart and the pole move by their own
equations, in training and in the test, and only the learners see cells (which then are not Markov). There the top of
the scale is a pole that never falls, instead of the optimum, and policies are tested by Monte Carlo. A first trial with
thirty runs found effects of the same sign with intervals that contain 0; then the number of runs was set to that of the
default interpretation. The start is a choice too: the default starts in the cell of (0, 0, 0, 0), which lies on an
edge, so the pole always leans and turns to the same side at first. Gymnasium's start within ±0.05 lies in four cells
with equal probability, two for the angle and two for its speed (drawn-start).
"""

VALUES = """
The tables show the mean reward of the plateau, and values that need no learning: the optimum of the unperturbed MDP,
the best constant action, the uniform policy, and the policies to which the two learners converge as alpha → 0 (planned
exactly on the training MDP). The last column counts the runs in which robust Q-learning and vanilla Q-learning with
discount gamma(1−R) had the same greedy policy at all checkpoints.
"""

MONTE_CARLO = """
The paper evaluates the last policy of each of thirty runs by thirty trajectories of horizon 100. The table compares
these means with the exact values of the same policies; z is the error in standard errors.
"""

WHY = """
**Robust Q-learning here is vanilla Q-learning with a shorter horizon.** Rewards on FrozenLake and CartPole are never
negative, so the worst state is always a terminal one, with value 0. The term γ R max V of the update is exactly 0,
and the rest is the vanilla update with discount γ(1−R). The two learners agree bit for bit in every run (last column of
the table of values, and a test). On Taxi the worst state is not terminal, and the term is a number that changes with
time and is the same for all pairs; the two learners agree up to noise. This is theorem T1 (except for terminal states,
whose value is fixed): the robust policy is the ordinary one at discount γ(1−R). So every effect in these panels is the
effect of a shorter discount, and the panels do not show robustness to the perturbation.

**Vanilla Q-learning is already shortened by the perturbation.** A uniform jump with probability p adds γ p mean V
to all pairs of non-terminal states, so (except for terminal states) vanilla Q-learning on the perturbed MDP plans with
discount γ(1−p), and robust Q-learning with γ(1−p)(1−R). The test is on the unperturbed MDP with discount γ, so the
smaller discount is further away from the tested criterion. If the limits differ (columns α → 0), the robust one is
worse.

**FrozenLake: with a constant step of 0.8 neither learner learns.** On a slippery lake both earn what the best constant
action earns (table of values), about a seventh of the optimum, although both would find good policies as α → 0. The
finding is that neither has much skill: the panel compares two policies that have learned almost nothing. The result
depends on whether the lake is slippery. On a lake that is not slippery the claim is reproduced: a wasted move costs a
factor γ², and a shorter discount makes this gap larger relative to the noise of the jumps. The control with discount
γ(1−R) gains exactly the same. The reward of a step (gym-reward: the one it earned, not its mean) decides the sign of
differences below three hundredths of the scale, and not in the same direction in all panels.

**CartPole: a fall that only costs one step.** When a fallen pole is an ordinary state that leads back to the start
(restart), a fall costs almost nothing, the action gaps shrink relative to the noise of the jumps, and the learner with
the shorter discount is ahead: robust beats vanilla, and vanilla with discount γ(1−R) beats robust by more. All of them
converge to the same optimal policy.

**TDC: the robust learner is the one that diverges.** With the printed steps α = 0.1, β = 0.5 and features whose norm
exceeds 1 (the paper's assumption of bounded features does not hold for its own features), robust TDC grows without
bound in the default interpretation, while vanilla TDC on the same walk stays bounded. With other features fewer runs
diverge within the horizon, or none (second-features), and robust TDC still has the larger gradient. The averaged
recursion is stable for every draw that was tried, so it does not decide. The growth rate of the recursion for large
theta decides (table of growth rates). For robust TDC it is above zero for most draws of the features, for vanilla TDC
it is below zero for nearly all: most robust runs that have not diverged within the horizon would diverge later. With a
thirtieth of both steps (small-steps) no run diverges, and the two learners are close. Projection stops the growth but
not the oscillation: theta stays at the boundary of the ball. If terminal states have value 0 (tdc-episodic), robust TDC
is stable and has the smaller gradient of the *robust* J, which vanilla TDC does not minimise. If each is measured by
its own J (tdc-episodic-own), vanilla is ahead again. So the choice of J decides the panel even if robust TDC converges.

**RARL loses because it alone trains with noise.** Two facts qualify *reproduced*: plain Q-learning on the same samples
beats robust Q-learning in the same worst-case test (table of values), and training on perturbed samples flips panel a.
Taxi is deterministic, and in the default interpretation robust Q-learning trains on it without perturbation, so
constant steps cause no noise. The agent of RARL trains on a model in which every step is a jump with probability R,
with the same constant step. Vanilla Q-learning on the unperturbed MDP beats RARL by slightly more than robust
Q-learning does. If robust Q-learning trains on jumps too (perturbed-training, jumps with probability p), the outcome
follows the noise: robust is ahead if p is much smaller than R (panel b), and behind if they are equal (panel a). A
stronger or an exact adversary does not help RARL: it makes the jumps worse and does not reduce the noise. Without noise
and without ends of episodes RARL would not lose: if both sides play exact best responses, the agent's policy is robust
optimal from its second response on (claim `best-responses`).
"""

REPRODUCE = """
`robust-core panels` runs the fifteen panels with their controls and prints the outcomes (`--json`: the records);
`robust-core panels --panel ID --interpretation NAME` runs one of them. `robust-core panels --write` runs all panels
under all interpretations and writes the results; `robust-core documents experiments` writes this document. The options
`--workers N` and `--cluster ADDRESS` distribute the work. Every finished record is stored, so a job that was stopped
continues where it ended. A record is a function of the panel, the interpretation and the number of runs: it has the
same bits on the same kind of machine and libraries.
"""
