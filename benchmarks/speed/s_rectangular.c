/* Plain value iteration for s-rectangular L1 balls, with bisection in every state: the peer of robust_core.s_rectangular.
 *
 * w_a(j) = cost + gamma v(j) on the row, outside_cost + gamma v(j) elsewhere. The least budget of an action for the value u
 * moves mass from the lowest w to the top. Bisection ends at a bracket of `bracket`. Returns the number of sweeps until
 * the largest change is at most `residual`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double w, p; } outcome;

static int rising(const void *x, const void *y)
{
    double a = ((const outcome *)x)->w, b = ((const outcome *)y)->w;
    return (a > b) - (a < b);
}

static double needed(const outcome *row, long n, double mean, double u)
{
    double top = row[n - 1].w, missing = u - mean, xi = 0.0;
    if (missing <= 0.0)
        return 0.0;
    for (long i = 0; i < n; i++) {
        double rate = 0.5 * (top - row[i].w), gain = 2.0 * row[i].p * rate;
        if (rate <= 0.0)
            break;
        if (gain >= missing)
            return xi + missing / rate;
        xi += 2.0 * row[i].p;
        missing -= gain;
    }
    return xi;
}

long plain_iteration(long S, long A, const long *offsets, const long *successors, const double *probabilities,
                     const double *costs, const double *outside, double gamma, double kappa, double residual,
                     double bracket, long most, double *v)
{
    long longest = 0, sweeps = 0;
    for (long r = 0; r < S * A; r++)
        if (offsets[r + 1] - offsets[r] > longest)
            longest = offsets[r + 1] - offsets[r];
    long keep = longest + 1 < S ? longest + 1 : S, width = longest + 1;
    long *best = malloc(keep * sizeof *best), *n = malloc(A * sizeof *n);
    outcome *rows = malloc(A * width * sizeof *rows);
    double *mean = malloc(A * sizeof *mean), *image = malloc(S * sizeof *image), change = INFINITY;
    while (change > residual && sweeps < most) {
        long count = 0;
        for (long j = 0; j < S; j++) { /* the states of highest v, by insertion */
            if (count == keep && v[j] <= v[best[count - 1]])
                continue;
            long k = count < keep ? count++ : count - 1;
            while (k > 0 && v[best[k - 1]] < v[j]) {
                best[k] = best[k - 1];
                k--;
            }
            best[k] = j;
        }
        change = 0.0;
        for (long s = 0; s < S; s++) {
            double low = INFINITY, high = INFINITY;
            for (long a = 0; a < A; a++) {
                long r = s * A + a, first = offsets[r], last = offsets[r + 1];
                outcome *row = rows + a * width;
                mean[a] = 0.0;
                n[a] = 0;
                for (long k = first; k < last; k++) {
                    row[n[a]].p = probabilities[k];
                    row[n[a]].w = costs[k] + gamma * v[successors[k]];
                    mean[a] += row[n[a]].p * row[n[a]].w;
                    n[a]++;
                }
                for (long b = 0; b < count; b++) {
                    int inside = 0;
                    for (long k = first; k < last && !inside; k++)
                        inside = successors[k] == best[b];
                    if (!inside) {
                        row[n[a]].p = 0.0;
                        row[n[a]++].w = outside[r] + gamma * v[best[b]];
                        break;
                    }
                }
                if (n[a] > 2)
                    qsort(row, n[a], sizeof *row, rising);
                else if (n[a] == 2 && row[0].w > row[1].w) {
                    outcome x = row[0];
                    row[0] = row[1];
                    row[1] = x;
                }
                low = fmin(low, mean[a]);
                high = fmin(high, row[n[a] - 1].w);
            }
            while (high - low > bracket) {
                double u = 0.5 * (low + high), total = 0.0;
                for (long a = 0; a < A; a++)
                    total += needed(rows + a * width, n[a], mean[a], u);
                if (total <= kappa)
                    low = u;
                else
                    high = u;
            }
            image[s] = 0.5 * (low + high);
            change = fmax(change, fabs(image[s] - v[s]));
        }
        memcpy(v, image, S * sizeof *v);
        sweeps++;
    }
    free(best), free(n), free(rows), free(mean), free(image);
    return sweeps;
}
