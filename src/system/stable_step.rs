// SPDX-License-Identifier: MIT OR Apache-2.0
//! The longest step with which an explicit scheme is stable.
//!
//! A mode of the cloth with ω² = ⟨u, Ku⟩ and the damping c = ⟨u, Du⟩, u being of unit mass, is an oscillator
//! ẍ + cẋ + ω²x = 0. What a scheme makes of it in one step is found by applying the scheme itself; no formulas are needed.
//! Three modes bind the step, and power iteration finds them: the stiffest, the one that is damped most, and, because
//! explicit Euler and the midpoint rule feed what damping does not hold, the one that is stiffest beyond its damping,
//! which has the largest ⟨u, (K − D/h)u⟩.
//!
//! K is that of the steepest branches of all curves, of sudden changes, and of seams as stiff as they will be until the
//! next look; springs of pins are in it.
//!
//! The air's resistance is left out: it is far below what strains resist.

use super::{equations_of_motion::EquationsOfMotion, tangent_matrix::TangentMatrix};
use crate::{
    Vec3,
    linear_solver::BlockMatrix,
    parallel::reductions,
    simd::Row3,
    time_integration::{ExplicitScheme, KinematicState},
};

/// Power iterations for a mode, and what its eigenvalue may be more than what they find.
const ITERATIONS: usize = 60;
const MARGIN: f64 = 1.1;
/// The part of the longest step that is used: shapes change until the next look.
const SAFETY: f64 = 0.9;
/// Amplitudes that grow by e in so many seconds do not count as unstable: without damping those of explicit Euler and
/// the midpoint rule grow with any step.
const GROWTH_TIME: f64 = 10.0;
/// 1/β in 1/s at which the viscosity is read off the tangent.
const VISCOSITY_PROBE_RATE: f64 = 1.0e3;

/// An oscillator: ω² in 1/s², c in 1/s.
#[derive(Clone, Copy, Debug)]
struct Mode {
    stiffness: f64,
    damping: f64,
}

/// The longest step that is stable at a shape and in the next seconds, in s; infinite where nothing is stiff.
pub(crate) fn max_stable_step(
    scheme: ExplicitScheme,
    (dynamics, tangent): (&mut EquationsOfMotion, &mut TangentMatrix),
    (positions, held): (&[Vec3], &[bool]),
    seconds: f64,
) -> f64 {
    let (elastic, viscous) = dynamics.with_stiffest_tangents(seconds, |dynamics| {
        let elastic = tangent.element_matrix(dynamics, positions, 0.0).clone();
        let viscous = dynamics
            .is_viscous()
            .then(|| tangent.element_matrix(dynamics, positions, VISCOSITY_PROBE_RATE).clone());
        (elastic, viscous)
    });
    let inverse_root = |row| {
        let vertex = tangent.ordering.vertex(row);
        if held[vertex] { 0.0 } else { (1.0 / dynamics.masses[vertex].sqrt()) as f32 }
    };
    let inverse_roots = (0..held.len()).map(inverse_root).collect();
    let modes = ModalProblem { elastic, viscous, inverse_sqrt_masses: inverse_roots };
    let stiffest = modes.dominant_mode([1.0, 0.0], 0.0);
    let mut longest = max_step_with_margin(scheme, stiffest);
    if modes.viscous.is_some() {
        let most_damped = modes.dominant_mode([0.0, 1.0], 0.0);
        longest = longest.min(max_step_with_margin(scheme, most_damped));
        let against = 1.0 / longest;
        let least_held = modes.dominant_mode([1.0, -against], against * most_damped.damping);
        longest = longest.min(max_step_with_margin(scheme, least_held));
    }
    SAFETY * longest
}

/// The matrices of the modes.
struct ModalProblem {
    elastic: BlockMatrix,
    /// The elastic one and the viscosity times [`INVERSE_BETA`].
    viscous: Option<BlockMatrix>,
    /// 1/√m of the vertex of each row, 0 where it is held.
    inverse_sqrt_masses: Vec<f32>,
}

impl ModalProblem {
    /// The mode with the largest ⟨u, (aK + bD + shift)u⟩, which has to be the one largest in size.
    fn dominant_mode(&self, [a, b]: [f64; 2], shift: f64) -> Mode {
        let mut mode = Mode { stiffness: 0.0, damping: 0.0 };
        let mut field = self.start_vector();
        for _ in 0..ITERATIONS {
            let (elastic, viscous) =
                (self.mass_scaled_product(&self.elastic, &field), self.viscous_product(&field));
            mode = Mode { stiffness: dot(&field, &elastic), damping: 0.0 };
            for (vertex, value) in field.iter_mut().enumerate() {
                let damped = viscous.as_ref().map_or_else(Vec3::zeros, |viscous| {
                    (viscous[vertex] - elastic[vertex]) / VISCOSITY_PROBE_RATE
                });
                mode.damping += value.dot(&damped);
                *value = elastic[vertex] * a + damped * b + *value * shift;
            }
            if !normalize(&mut field) {
                break;
            }
        }
        mode
    }

    fn viscous_product(&self, field: &[Vec3]) -> Option<Vec<Vec3>> {
        self.viscous.as_ref().map(|matrix| self.mass_scaled_product(matrix, field))
    }

    /// A field in which all modes are likely to be, of unit length.
    fn start_vector(&self) -> Vec<Vec3> {
        // Any numbers without a pattern, the same on every machine.
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed >> 8) / f64::from(1 << 23) - 1.0
        };
        let mut field: Vec<Vec3> = Vec::with_capacity(self.inverse_sqrt_masses.len());
        for root in &self.inverse_sqrt_masses {
            let any = Vec3::new(next(), next(), next());
            field.push(if *root > 0.0 { any } else { Vec3::zeros() });
        }
        normalize(&mut field);
        field
    }

    /// M^(−½)·matrix·M^(−½) times a field.
    fn mass_scaled_product(&self, matrix: &BlockMatrix, field: &[Vec3]) -> Vec<Vec3> {
        let pairs = field.iter().zip(&self.inverse_sqrt_masses);
        let scaled: Vec<Row3> = pairs
            .map(|(v, root)| [v.x as f32 * root, v.y as f32 * root, v.z as f32 * root, 0.0])
            .collect();
        let mut images = vec![[0.0; 4]; field.len()];
        matrix.times(&scaled, &mut images);
        let pairs = images.iter().zip(&self.inverse_sqrt_masses);
        let exact = |(image, root): (&Row3, &f32)| {
            Vec3::new(image[0].into(), image[1].into(), image[2].into()) * f64::from(*root)
        };
        pairs.map(exact).collect()
    }
}

/// Makes a field one of unit length; false where it vanishes.
fn normalize(field: &mut [Vec3]) -> bool {
    let length = dot(field, field).sqrt();
    for value in field.iter_mut() {
        *value /= length.max(f64::MIN_POSITIVE);
    }
    length > 0.0
}

fn dot(first: &[Vec3], second: &[Vec3]) -> f64 {
    reductions::sum_blocked(first.len(), reductions::MIN_VERTICES_PER_TASK, |vertex| {
        first[vertex].dot(&second[vertex])
    })
}

/// The longest stable step for a mode that is a little stiffer than it was found to be, and damped as found or more.
fn max_step_with_margin(scheme: ExplicitScheme, mode: Mode) -> f64 {
    let stiffness = MARGIN * mode.stiffness.max(0.0);
    let dampings = [1.0, MARGIN].map(|margin| margin * mode.damping.max(0.0));
    dampings.into_iter().fold(f64::INFINITY, |longest, damping| {
        longest.min(max_stable_step_of_mode(scheme, Mode { stiffness, damping }))
    })
}

/// The longest step with which no amplitude of a mode grows.
fn max_stable_step_of_mode(scheme: ExplicitScheme, mode: Mode) -> f64 {
    // No explicit scheme here is stable beyond |λ|h = 4.
    let rate = mode.stiffness.sqrt().max(mode.damping);
    if rate <= f64::MIN_POSITIVE {
        return f64::INFINITY;
    }
    let is_stable = |step: f64| spectral_radius(scheme, mode, step) <= (step / GROWTH_TIME).exp();
    let mut unstable = 8.0 / rate;
    let mut stable = 0.5 * unstable;
    while !is_stable(stable) && stable > f64::MIN_POSITIVE {
        unstable = stable;
        stable *= 0.5;
    }
    for _ in 0..30 {
        let middle = 0.5 * (stable + unstable);
        let side = if is_stable(middle) { &mut stable } else { &mut unstable };
        *side = middle;
    }
    stable
}

/// The spectral radius of what a scheme makes of a mode in one step.
fn spectral_radius(scheme: ExplicitScheme, mode: Mode, step: f64) -> f64 {
    // In units of time in which the step is 1, so that position and velocity are alike in size.
    let [stiffness, damping] = [mode.stiffness * step * step, mode.damping * step];
    let one = |x: f64, v: f64| {
        let start =
            KinematicState { positions: vec![Vec3::x() * x], velocities: vec![Vec3::x() * v] };
        let end = scheme(&start, 1.0, &mut |now, _| {
            vec![now.positions[0] * -stiffness - now.velocities[0] * damping]
        });
        [end.positions[0].x, end.velocities[0].x]
    };
    let ([a, c], [b, d]) = (one(1.0, 0.0), one(0.0, 1.0));
    let (half_trace, determinant) = (0.5 * (a + d), a * d - b * c);
    let discriminant = half_trace * half_trace - determinant;
    if discriminant < 0.0 {
        return determinant.sqrt();
    }
    half_trace.abs() + discriminant.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{scene::Integrator, time_integration::explicit_scheme};

    fn longest(integrator: Integrator, stiffness: f64, damping: f64) -> f64 {
        max_stable_step_of_mode(explicit_scheme(integrator).unwrap(), Mode { stiffness, damping })
    }

    #[test]
    fn bounds_are_those_of_the_closed_forms() {
        let frequency = 1.0e4_f64;
        let stiffness = frequency * frequency;
        for (integrator, damping, wanted) in [
            (Integrator::SymplecticEuler, 0.0, 2.0 / frequency),
            (Integrator::Verlet, 0.0, 2.0 / frequency),
            (Integrator::Rk4, 0.0, 8.0_f64.sqrt() / frequency),
            // h = c/ω² while the mode swings.
            (Integrator::Euler, 0.1 * frequency, 0.1 / frequency),
            // h²ω² + 2hc = 4.
            (Integrator::SymplecticEuler, frequency, (5.0_f64.sqrt() - 1.0) / frequency),
        ] {
            let found = longest(integrator, stiffness, damping);
            assert!((found / wanted - 1.0).abs() < 2e-3, "{integrator:?}: {found}, not {wanted}");
        }
    }

    #[test]
    fn a_mode_that_nothing_damps_bounds_explicit_euler_by_its_growth() {
        // |R|² = 1 + h²ω² grows by hω²/2 in a second.
        let wanted = 2.0 / (GROWTH_TIME * 1.0e4);
        assert!((longest(Integrator::Euler, 1.0e4, 0.0) / wanted - 1.0).abs() < 1e-2);
        assert!(longest(Integrator::Midpoint, 1.0e4, 0.0) < 0.02);
        assert!(longest(Integrator::Euler, 0.0, 0.0).is_infinite());
    }
}
