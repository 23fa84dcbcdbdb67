// SPDX-License-Identifier: MIT OR Apache-2.0
//! The law of a spring: force, energy and stiffness at a length.

use super::buckling::{buckling_state, half_angle};

/// The law of one spring, with its stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SpringLaw {
    /// Pulls and pushes by `stiffness` in N/m (Cords 2004, eq. 4.11).
    Linear { stiffness: f64 },
    /// Pulls only (Hayler 2004, eq. 3.1).
    Tension { stiffness: f64 },
    /// Pushes as a beam that buckles (Hayler 2004, eq. 3.5), and does not pull.
    Buckling {
        /// Bending rigidity of the beam, in N·m².
        rigidity: f64,
        /// Stiffness before it buckles, in N/m.
        stiffness: f64,
        /// Shortening at which it buckles, in m.
        yields_at: f64,
    },
}

/// A spring at one length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpringResponse {
    /// Tension, in N.
    pub(super) force: f64,
    /// Energy, in J.
    pub(super) energy: f64,
    /// Derivative of the tension by the length, in N/m.
    pub(super) stiffness: f64,
}

impl SpringLaw {
    /// A beam of a length in m.
    pub(super) fn buckling(rigidity: f64, stiffness: f64, length: f64) -> Self {
        Self::Buckling {
            rigidity,
            stiffness,
            yields_at: buckling_onset(rigidity, stiffness, length),
        }
    }

    /// Stiffness in N/m that viscosity is proportional to. For a beam it is that of the buckled state; the difference
    /// is at most the slope of f_b in the straight state, 7.2·rigidity/length³.
    pub(super) fn viscous_stiffness(&self, rest: f64) -> f64 {
        match self {
            Self::Linear { stiffness } | Self::Tension { stiffness } => *stiffness,
            Self::Buckling { rigidity, .. } => 7.2 * rigidity / rest.powi(3),
        }
    }

    /// Curvature of a beam in 1/m and its derivatives by the length, such that half of the square times rigidity and
    /// length is its energy: that of the arc once it has buckled, less the constant of the energy before.
    pub(super) fn curvature(&self, length: f64, rest: f64) -> [f64; 3] {
        let Self::Buckling { rigidity, stiffness, yields_at } = self else { return [0.0; 3] };
        let scale = rigidity * rest;
        if length >= rest || scale <= 0.0 {
            return [0.0; 3];
        }
        if rest - length <= *yields_at {
            let rate = (stiffness / scale).sqrt();
            return [rate * (rest - length), -rate, 0.0];
        }
        let now = self.respond(length, rest);
        let curvature = (2.0 * now.energy / scale).sqrt();
        let rate = now.force / (scale * curvature);
        [curvature, rate, (now.stiffness / scale - rate * rate) / curvature]
    }

    /// Response at `length` for the length at rest `rest`, both in m.
    pub(super) fn respond(&self, length: f64, rest: f64) -> SpringResponse {
        let elongation = length - rest;
        let linear = |stiffness: f64| SpringResponse {
            force: stiffness * elongation,
            energy: 0.5 * stiffness * elongation * elongation,
            stiffness,
        };
        match self {
            Self::Linear { stiffness } => linear(*stiffness),
            Self::Tension { stiffness } if elongation >= 0.0 => linear(*stiffness),
            Self::Tension { .. } => SpringResponse::default(),
            Self::Buckling { .. } if elongation >= 0.0 => SpringResponse::default(),
            Self::Buckling { rigidity, stiffness, yields_at } => {
                if -elongation <= *yields_at {
                    return linear(*stiffness);
                }
                let now = buckling_state(half_angle(length / rest));
                let then = buckling_state(half_angle(1.0 - yields_at / rest));
                let scale = 4.0 * rigidity / rest;
                SpringResponse {
                    force: -scale / rest * now.force,
                    energy: 0.5 * scale * (now.energy - then.energy)
                        + 0.5 * stiffness * yields_at * yields_at,
                    stiffness: scale / (rest * rest) * now.stiffness,
                }
            }
        }
    }
}

/// The shortening at which `stiffness` pushes as hard as the bent beam.
fn buckling_onset(rigidity: f64, stiffness: f64, length: f64) -> f64 {
    let beam = |shortening: f64| {
        4.0 * rigidity / (length * length)
            * buckling_state(half_angle(1.0 - shortening / length)).force
    };
    if stiffness <= 0.0 || stiffness * length <= beam(length) {
        return length;
    }
    // The beam pushes more the more it is bent, but much less so than the stiffness.
    let (mut low, mut high) = (0.0, length);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let is_bent = stiffness * middle >= beam(middle);
        (low, high) = if is_bent { (low, middle) } else { (middle, high) };
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAWS: [SpringLaw; 2] =
        [SpringLaw::Linear { stiffness: 30.0 }, SpringLaw::Tension { stiffness: 30.0 }];

    #[test]
    fn forces_are_derivatives_of_energies_and_stiffnesses_of_forces() {
        let rest = 0.02;
        let beam = SpringLaw::buckling(2.0e-7, 40.0, rest);
        for law in LAWS.into_iter().chain([beam]) {
            for ratio in [0.02, 0.3, 0.7, 0.9, 0.99, 0.9996, 1.002, 1.3] {
                let at = |shift: f64| law.respond(ratio * rest + shift, rest);
                let step = 1.0e-8;
                let force = (at(step).energy - at(-step).energy) / (2.0 * step);
                let slope = (at(step).force - at(-step).force) / (2.0 * step);
                let here = at(0.0);
                let scale = 40.0 * rest;
                assert!((here.force - force).abs() < 1.0e-7 * scale, "{law:?} {ratio}: {force}");
                assert!((here.stiffness - slope).abs() < 1.0e-4 * 40.0, "{law:?} {ratio}: {slope}");
                assert!(here.energy >= 0.0 && here.stiffness >= 0.0, "{law:?} {ratio}");
            }
        }
    }

    #[test]
    fn a_beam_pushes_as_a_spring_and_then_as_what_has_buckled() {
        let (rest, rigidity, stiffness) = (0.02, 2.0e-7, 40.0);
        let law = SpringLaw::buckling(rigidity, stiffness, rest);
        let critical = 12.0 * rigidity / (rest * rest);
        let near = law.respond(rest * (1.0 - 1.0e-4), rest);
        assert!((near.force + stiffness * rest * 1.0e-4).abs() < 1.0e-12);
        let far = law.respond(0.98 * rest, rest).force;
        assert!(-far > critical && -far < 1.05 * critical, "{far}, critical {critical}");
    }

    #[test]
    fn curvature_of_a_beam_has_its_energy_and_its_derivatives() {
        let (rest, rigidity) = (0.02, 2.0e-7);
        let law = SpringLaw::buckling(rigidity, 40.0, rest);
        for ratio in [0.1, 0.4, 0.8, 0.99, 0.9996] {
            let length = ratio * rest;
            let [curvature, rate, second] = law.curvature(length, rest);
            let energy = law.respond(length, rest).energy;
            assert!((0.5 * rigidity * rest * curvature * curvature / energy - 1.0).abs() < 1.0e-9);
            let step = 1.0e-7 * rest;
            let [ahead, behind] = [step, -step].map(|step| law.curvature(length + step, rest));
            let slope = (ahead[0] - behind[0]) / (2.0 * step);
            assert!((slope / rate - 1.0).abs() < 1.0e-6, "{ratio}: {slope} {rate}");
            let slope = (ahead[1] - behind[1]) / (2.0 * step);
            assert!((slope - second).abs() < 1.0e-5 * rate.abs() / rest, "{slope} {second}");
        }
        // An arc far from straight: sin(y)/y with y half of its angle.
        let y: f64 = 1.2;
        let [curvature, ..] = law.curvature(rest * y.sin() / y, rest);
        assert!((curvature * rest / (2.0 * y) - 1.0).abs() < 1.0e-2, "{curvature}");
        assert!(law.curvature(1.01 * rest, rest)[0].abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn a_beam_too_stiff_to_buckle_does_not() {
        let law = SpringLaw::buckling(1.0, 40.0, 0.02);
        assert!((law.respond(0.005, 0.02).force + 0.6).abs() < 1.0e-12);
    }
}
