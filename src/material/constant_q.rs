// SPDX-License-Identifier: MIT OR Apache-2.0
//! A material that loses the same fraction of its energy in every cycle at any speed: constant Q over a band of
//! frequencies, by memory parameters (Etzmuss 2002, section 2.4.2).
//!
//! Q is Re C/Im C of the complex modulus C(ω), that is 2π times twice the mean stored energy of a cycle over the energy
//! lost. A spring and Kelvin-Voigt elements in series have the compliance S(ω) = c₀ + Σ c_j/(1 + iωτ_j) (eq. 2.34, here
//! relative to the static one, which stays that of the material). Times τ_j are spread evenly over the logarithm of the
//! band; (Re S + Q Im S)/Re S = 0 is linear in c_j but for the divisor, and c_j are fitted to it by least squares, none
//! below 0.
//!
//! The document computes the relaxation of the chain "by superposition of single elements"; in series it is the
//! *creep* of elements that adds up. Relaxation is that of C = 1/S, whose poles lie one between every two of S on the
//! negative axis: C(s) = 1 + Σ w_k sT_k/(1 + sT_k), springs and dashpots in parallel with the static modulus. Their
//! part of the stress, w_k C q_k, is a memory: q̇_k + q_k/T_k = ε̇, of which one value is kept.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A quality factor over a band of frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantQ {
    /// Q: the loss angle of stress behind strain has the tangent 1/Q.
    pub q: f64,
    /// Lower end of the band, in Hz.
    pub low: f64,
    /// Upper end of the band, in Hz.
    pub high: f64,
}

/// Elements of a chain.
pub(crate) const BRANCHES: usize = 8;
/// Heuristic parameters of the fit of the chain.
struct ChainFitParameters {
    /// Ratio of the slowest and fastest element to the ends of the band (1). Effect: larger covers frequencies beyond
    /// the band, with fewer elements in it; smaller lets Q drift at its ends. Evidence:
    /// `the_chain_keeps_q_within_a_tenth_over_two_decades` (fails with 1 and 1.5, passes with 6).
    margin: f64,
    /// Number of frequencies of the fit. Effect: larger takes longer; smaller lets Q oscillate between the samples.
    /// Evidence: `the_chain_keeps_q_within_a_tenth_over_two_decades` passes with 10, 20 and 40.
    frequencies: usize,
    /// Number of Gauss-Seidel sweeps of a fit. Effect: larger takes longer at set-up; smaller stops before convergence.
    /// Evidence: `the_chain_keeps_q_within_a_tenth_over_two_decades` (fails with 50, passes with 200).
    sweeps: usize,
    /// Number of successive fits; each weights the errors of Q by the compliance of the previous one. Effect: larger
    /// takes longer; 1 weights the errors of Q by the uncorrected compliance. Evidence:
    /// `the_chain_keeps_q_within_a_tenth_over_two_decades` (fails with 1, passes with 2).
    fits: usize,
}

impl ChainFitParameters {
    const DEFAULT: Self = Self { margin: 3.0, frequencies: 80, sweeps: 2000, fits: 3 };
}

/// One element of the chain: fraction of the static compliance, and time in s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChainElement {
    /// Compliance of the element over that of the whole chain at rest.
    pub compliance: f64,
    /// Viscosity over stiffness of the element, in s.
    pub time: f64,
}

/// A spring and a dashpot in series, in parallel with the static modulus.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemoryBranch {
    /// Stiffness over the static modulus.
    pub weight: f64,
    /// Time of relaxation, in s.
    pub time: f64,
}

impl ConstantQ {
    /// Lowest Q: the chain does not approximate lower ones.
    pub const MIN_Q: f64 = 1.0;
    /// Largest ratio of the ends of the band.
    pub const MAX_BAND_RATIO: f64 = 1.0e3;

    pub(super) fn check(&self) -> Result<()> {
        let Self { q, low, high } = *self;
        if !(q.is_finite() && q >= Self::MIN_Q) {
            return Err(Error::value("quality.q", q, format!("a number, {} or more", Self::MIN_Q)));
        }
        if !(low.is_finite() && low > 0.0) {
            return Err(Error::value("quality.low", low, "a finite number more than 0"));
        }
        if !(high.is_finite() && high > low && high <= Self::MAX_BAND_RATIO * low) {
            let wanted = format!("more than low, up to {} times as much", Self::MAX_BAND_RATIO);
            return Err(Error::value("quality.high", high, wanted));
        }
        Ok(())
    }

    /// The fitted chain; the rest of the static compliance is that of the spring.
    #[must_use]
    pub fn chain(&self) -> [ChainElement; BRANCHES] {
        let ChainFitParameters { margin, frequencies, fits, .. } = ChainFitParameters::DEFAULT;
        let (first, last) = (1.0 / (TAU * self.high * margin), margin / (TAU * self.low));
        let times: [f64; BRANCHES] =
            std::array::from_fn(|j| first * (last / first).powf(j as f64 / (BRANCHES - 1) as f64));
        let ratios: Vec<[f64; BRANCHES]> = (0..frequencies)
            .map(|index| index as f64 / (frequencies - 1) as f64)
            .map(|exponent| TAU * self.low * (self.high / self.low).powf(exponent))
            .map(|omega| times.map(|time| omega * time))
            .collect();
        let mut compliances = [0.0; BRANCHES];
        for _ in 0..fits {
            compliances = fit(self.q, &ratios, &compliances);
        }
        let total = 1.0 + compliances.iter().sum::<f64>();
        std::array::from_fn(|j| ChainElement { compliance: compliances[j] / total, time: times[j] })
    }

    /// The relaxation of the chain as branches in parallel.
    #[must_use]
    pub fn branches(&self) -> [MemoryBranch; BRANCHES] {
        let chain = self.chain();
        let spring = 1.0 - chain.iter().map(|element| element.compliance).sum::<f64>();
        let mut members: Vec<ChainElement> =
            chain.into_iter().filter(|element| element.compliance > 0.0).collect();
        members.sort_by(|a, b| b.time.total_cmp(&a.time));
        let mut branches = [MemoryBranch::default(); BRANCHES];
        for (index, branch) in branches.iter_mut().enumerate().take(members.len()) {
            *branch = relaxation(&members, spring, index);
        }
        branches
    }

    /// Q of the fitted chain at a frequency in Hz.
    #[must_use]
    pub fn q_of_chain(&self, frequency: f64) -> f64 {
        let (mut real, mut imaginary) = (1.0, 0.0);
        for branch in self.branches() {
            let x = TAU * frequency * branch.time;
            real += branch.weight * x * x / (1.0 + x * x);
            imaginary += branch.weight * x / (1.0 + x * x);
        }
        real / imaginary
    }
}

/// Least squares of Σ c_j (Q ωτ_j − 1)/(1 + ω²τ_j²) = 1 with every c_j ≥ 0, by projected Gauss-Seidel. Each equation is
/// divided by the Re S of the compliances `before`. `ratios` are ωτ_j.
fn fit(q: f64, ratios: &[[f64; BRANCHES]], before: &[f64; BRANCHES]) -> [f64; BRANCHES] {
    let mut normal = [[0.0; BRANCHES]; BRANCHES];
    let mut right = [0.0; BRANCHES];
    for ratios in ratios {
        let real = 1.0 + before.iter().zip(ratios).map(|(c, x)| c / (1.0 + x * x)).sum::<f64>();
        let row = ratios.map(|x| (q * x - 1.0) / (1.0 + x * x) / real);
        for i in 0..BRANCHES {
            right[i] += row[i] / real;
            for j in 0..BRANCHES {
                normal[i][j] += row[i] * row[j];
            }
        }
    }
    let mut found = [0.0; BRANCHES];
    for _ in 0..ChainFitParameters::DEFAULT.sweeps {
        for i in 0..BRANCHES {
            let rest = right[i] - normal[i].iter().zip(&found).map(|(a, c)| a * c).sum::<f64>();
            found[i] = (found[i] + rest / normal[i][i]).max(0.0);
        }
    }
    found
}

/// The branch of 1/S whose pole is between those of two members, or beyond the last.
fn relaxation(members: &[ChainElement], spring: f64, index: usize) -> MemoryBranch {
    let compliance = |rate: f64| {
        spring + members.iter().map(|one| one.compliance / (1.0 - rate * one.time)).sum::<f64>()
    };
    let mut low = 1.0 / members[index].time;
    let mut high = members.get(index + 1).map_or_else(
        || {
            let mut far = 2.0 * low;
            while compliance(far) <= 0.0 {
                far *= 2.0;
            }
            far
        },
        |next| 1.0 / next.time,
    );
    // It grows monotonically from −∞ to +∞ in the interval.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if compliance(middle) < 0.0 { low = middle } else { high = middle }
    }
    let time = 2.0 / (low + high);
    let slope: f64 =
        members.iter().map(|one| one.compliance * one.time / (1.0 - one.time / time).powi(2)).sum();
    MemoryBranch { weight: time / slope, time }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_keeps_q_within_a_tenth_over_two_decades() {
        for q in [1.0, 2.0, 5.0, 20.0, 100.0] {
            for [low, high] in [[0.1, 10.0], [1.0, 100.0], [0.05, 50.0]] {
                let quality = ConstantQ { q, low, high };
                for sample in 0..=100 {
                    let frequency = low * (high / low).powf(f64::from(sample) / 100.0);
                    let found = quality.q_of_chain(frequency);
                    assert!((found / q - 1.0).abs() < 0.03, "Q {found} for {q} at {frequency} Hz");
                }
            }
        }
    }

    #[test]
    fn branches_in_parallel_have_the_compliance_of_the_chain() {
        let quality = ConstantQ { q: 4.0, low: 0.1, high: 10.0 };
        let chain = quality.chain();
        let spring = 1.0 - chain.iter().map(|element| element.compliance).sum::<f64>();
        for rate in [0.01, 1.0, 30.0, 2000.0] {
            let series: f64 =
                spring + chain.iter().map(|e| e.compliance / (1.0 + rate * e.time)).sum::<f64>();
            let parallel: f64 = quality
                .branches()
                .iter()
                .map(|b| b.weight * rate * b.time / (1.0 + rate * b.time))
                .sum::<f64>()
                + 1.0;
            assert!((series * parallel - 1.0).abs() < 1.0e-9, "{rate}: {}", series * parallel);
        }
    }
}
