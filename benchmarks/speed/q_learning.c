/* Robust and vanilla Q-learning, and the walk alone, as a C programmer would write them: the limit to compare with.
   Same stream, same alias table, same order of operations as the compiled kernels, so the tables agree bit for bit. */
#include <stdint.h>
#include <stddef.h>

typedef struct { uint64_t threshold, packed; } column;

#define ROTATE(x, k) (((x) << (k)) | ((x) >> (64 - (k))))
#define DRAW(out, state)                                                      \
    do {                                                                      \
        const uint64_t sum_ = x0 + x3, bits_ = ROTATE(sum_, 23) + x0;         \
        const uint64_t shifted_ = x1 << 17;                                   \
        x2 ^= x0; x3 ^= x1; x1 ^= x2; x0 ^= x3; x2 ^= shifted_;               \
        x3 = ROTATE(x3, 45);                                                  \
        const column c_ = table[((state) << kb) + (bits_ >> (64 - kb))];      \
        out = (bits_ << kb) < c_.threshold ? c_.packed >> 32 : c_.packed & 0xffffffffu; \
    } while (0)
#define ENTER                                                                 \
    uint64_t x0 = stream[0], x1 = stream[1], x2 = stream[2], x3 = stream[3];  \
    uint64_t s = position[0], a = position[1], n = position[2], o;            \
    const uint64_t mask = ((uint64_t)1 << ab) - 1;
#define LEAVE                                                                 \
    stream[0] = x0; stream[1] = x1; stream[2] = x2; stream[3] = x3;           \
    position[0] = s; position[1] = a; position[2] = n;

void walk_only(const column *table, uint64_t kb, uint64_t ab, uint64_t *stream, int64_t *position, size_t steps)
{
    ENTER
    for (size_t t = 0; t < steps; t++) { DRAW(o, n); s = n; a = o & mask; n = o >> ab; }
    LEAVE
}

/* The minimum of a row of Q without entry a. For four actions a^1, a^2 and a^3 are the others. */
static inline double least_of_others(const double *row, size_t a, size_t A)
{
    if (A == 4) {
        const double x = row[a ^ 1], y = row[a ^ 2], z = row[a ^ 3], u = y < z ? y : z;
        return x < u ? x : u;
    }
    double v = 1.0 / 0.0;
    for (size_t j = 0; j < A; j++) v = j != a && row[j] < v ? row[j] : v;
    return v;
}

void vanilla(const column *table, uint64_t kb, uint64_t ab, uint64_t *stream, int64_t *position, double *Q, double *V,
             const double *cost, size_t S, size_t A, double alpha, double gamma_R, double gamma_b, size_t steps)
{
    ENTER
    (void)S; (void)gamma_R;
    for (size_t t = 0; t < steps; t++) {
        DRAW(o, n);
        const size_t i = s * A + a;
        const double rest = least_of_others(Q + s * A, a, A);
        const double q = (1.0 - alpha) * Q[i] + alpha * (cost[i] + gamma_b * V[n]);
        Q[i] = q;
        V[s] = q < rest ? q : rest;
        s = n; a = o & mask; n = o >> ab;
    }
    LEAVE
}

static void best_two(const double *V, size_t S, size_t *best, double *top, double *second)
{
    *best = 0; *top = V[0]; *second = -1.0 / 0.0;
    for (size_t i = 1; i < S; i++)
        if (V[i] > *second) {
            if (V[i] > *top) { *second = *top; *top = V[i]; *best = i; }
            else *second = V[i];
        }
}

void robust(const column *table, uint64_t kb, uint64_t ab, uint64_t *stream, int64_t *position, double *Q, double *V,
            const double *cost, size_t S, size_t A, double alpha, double gamma_R, double gamma_b, size_t steps)
{
    ENTER
    size_t best; double worst, bound;
    best_two(V, S, &best, &worst, &bound);
    for (size_t t = 0; t < steps; t++) {
        DRAW(o, n);
        const size_t i = s * A + a;
        const double rest = least_of_others(Q + s * A, a, A);
        worst = V[best];
        const double q = (1.0 - alpha) * Q[i] + alpha * (cost[i] + gamma_R * worst + gamma_b * V[n]);
        const double v = q < rest ? q : rest;
        Q[i] = q;
        V[s] = v;
        if (__builtin_expect((s == best) != (v > bound), 0)) { /* the best fell, or another rose, past the bound */
            if (s == best) best_two(V, S, &best, &worst, &bound);
            else if (v > worst) { bound = worst; best = s; }
            else bound = v;
        }
        s = n; a = o & mask; n = o >> ab;
    }
    LEAVE
}
