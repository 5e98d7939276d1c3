/* Robust TDC (Algorithm 2) on a recorded walk; built with vectorised exponentials: the limit to compare with. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

void tdc(const int64_t *s, const int64_t *s_next, const double *cost, size_t steps, double *theta, double *omega,
         const double *features, const double *transposed, double *V, double *weights, size_t S, size_t N,
         double varrho, double gamma_R, double gamma_b, double alpha, double beta, double radius)
{
    for (size_t t = 0; t < steps; t++) {
        const double *phi = features + s[t] * N, *phi_next = features + s_next[t] * N;
        for (size_t j = 0; j < S; j++) V[j] = theta[0] * transposed[j];
        for (size_t i = 1; i < N; i++)
            for (size_t j = 0; j < S; j++) V[j] += theta[i] * transposed[i * S + j];
        double top = V[0];
        for (size_t j = 1; j < S; j++) top = V[j] > top ? V[j] : top;
        double total = 0.0;
        for (size_t j = 0; j < S; j++) { weights[j] = exp(varrho * (V[j] - top)); total += weights[j]; }
        const double smooth = top + log(total) / varrho;
        double here = 0.0, there = 0.0, tracked = 0.0;
        for (size_t i = 0; i < N; i++) { here += phi[i] * theta[i]; there += phi_next[i] * theta[i]; tracked += phi[i] * omega[i]; }
        const double delta = cost[t] + gamma_b * there + gamma_R * smooth - here;
        double theta_norm = 0.0, omega_norm = 0.0;
        for (size_t i = 0; i < N; i++) {
            double mean = 0.0;
            for (size_t j = 0; j < S; j++) mean += transposed[i * S + j] * weights[j];
            const double g = gamma_b * phi_next[i] + gamma_R * (mean / total);
            theta[i] += alpha * (delta * phi[i] - g * tracked);
            omega[i] += beta * (delta - tracked) * phi[i];
            theta_norm += theta[i] * theta[i]; omega_norm += omega[i] * omega[i];
        }
        theta_norm = sqrt(theta_norm); omega_norm = sqrt(omega_norm);
        if (theta_norm > radius) for (size_t i = 0; i < N; i++) theta[i] *= radius / theta_norm;
        if (omega_norm > radius) for (size_t i = 0; i < N; i++) omega[i] *= radius / omega_norm;
    }
}
