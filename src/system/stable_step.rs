// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stability limit of explicit schemes.
//!
//! A mode u of unit mass with ω² = ⟨u, Ku⟩ and the damping c = ⟨u, Du⟩ is an oscillator ẍ + cẋ + ω²x = 0. The
//! amplification matrix of a scheme for it follows from applying the scheme itself to two initial states; no formulas
//! are needed. Three modes limit the step, and power iteration finds them: the stiffest, the most damped, and, because
//! explicit Euler and the midpoint rule amplify modes with too little damping, the one that is stiffest relative to its
//! damping, with the largest ⟨u, (K − D/h)u⟩.
//!
//! K is an upper bound until the next estimate: it has the steepest branch of every material curve, the full stiffness
//! of sudden changes, and the stiffness that seams will have by then. It includes spring targets. Air drag is left out;
//! it is far below the forces of strain.

use super::{
    constant_stiffness::VISCOSITY_PROBE_RATE, equations_of_motion::EquationsOfMotion,
    tangent_matrix::TangentMatrix,
};
use crate::{
    linear_solver::BlockMatrix,
    parallel::reductions,
    simd::Row3,
    time_integration::{ExplicitScheme, KinematicState},
    vec3::Vec3,
};

/// Parameters of explicit time stepping.
pub(crate) struct ExplicitSteppingParameters {
    /// Lower bound of the interval between two detections of contacts, in s; several steps of the scheme are taken
    /// within it. At 3 m/s a vertex travels 1.5 mm. Effect: larger detects contacts later; smaller costs time.
    /// Evidence: none: no test or figure depends on it (0 tried; bits of explicit schemes change).
    pub(crate) contact_interval: f64,
    /// Steps after which the stability limit is estimated anew. Effect: larger lets the limit become outdated; smaller
    /// costs time. Evidence: none: neither tests nor scenes depend on it (one estimate tried).
    pub(crate) steps_per_estimate: usize,
    /// Stability limit below which a cloth is refused, in s: 10 000 steps per frame of a film. Effect: larger refuses
    /// more cloths; smaller accepts cloths that take hours per frame. Evidence: none: neither tests nor scenes depend
    /// on it (0 tried).
    pub(crate) min_stable_step: f64,
    /// Stretch at which a step counts as diverged: no fabric bears it, and collision detection over cloth that is spread
    /// through space takes forever. Effect: larger takes longer to stop; smaller may stop a motion that is still
    /// stable. Evidence: `test_a_step_that_throws_the_cloth_away_is_refused_at_once` (1000: `midpoint` reaches a
    /// stretch of 160, contacts hold the cloth where it was, and every further step takes 5 s and does the same).
    pub(crate) max_stretch: f64,
    /// Power iterations per mode. Effect: larger costs time; smaller underestimates the stiffness. Evidence: none: no
    /// test or figure depends on it (5 tried; bits of `sheet/ball8_rk4` change).
    power_iterations: usize,
    /// Factor on the eigenvalue found by power iteration, which is a lower bound. Effect: larger shortens steps;
    /// smaller risks instability. Evidence: none: no test or figure depends on it (1 tried; bits of `sheet/ball8_rk4`
    /// change).
    eigenvalue_margin: f64,
    /// Fraction of the stability limit that is used, because the shape changes until the next estimate. Effect: larger
    /// risks instability; smaller shortens steps. Evidence:
    /// `time_integration::integrators::seams_that_close_go_on_from_a_checkpoint_with_every_integrator` (fails with 1).
    safety: f64,
    /// Time in which an amplitude may grow by e, in s: without damping explicit Euler and the midpoint rule amplify at
    /// any step. Effect: larger shortens steps of undamped cloth; smaller lets energy grow. Evidence:
    /// `the_growth_of_undamped_modes_limits_explicit_euler` (the limit is inversely proportional).
    growth_time: f64,
}

impl ExplicitSteppingParameters {
    pub(crate) const DEFAULT: Self = Self {
        contact_interval: 5.0e-4,
        steps_per_estimate: 64,
        min_stable_step: 1.0 / 240_000.0,
        max_stretch: 10.0,
        power_iterations: 60,
        eigenvalue_margin: 1.1,
        safety: 0.9,
        growth_time: 10.0,
    };
}

const PARAMETERS: ExplicitSteppingParameters = ExplicitSteppingParameters::DEFAULT;

/// Oscillator of a mode.
#[derive(Clone, Copy, Debug)]
struct Mode {
    /// ω², in 1/s².
    stiffness: f64,
    /// c, in 1/s.
    damping: f64,
}

/// Cloth whose stability limit is asked for.
pub(crate) struct StabilityProblem<'a> {
    pub(crate) scheme: ExplicitScheme,
    pub(crate) dynamics: &'a mut EquationsOfMotion,
    pub(crate) tangent: &'a mut TangentMatrix,
    /// Positions of all vertices, in m.
    pub(crate) positions: &'a [Vec3],
    /// Flags of the pinned vertices.
    pub(crate) pinned: &'a [bool],
    /// Time for which the limit is to hold, in s.
    pub(crate) horizon: f64,
}

impl StabilityProblem<'_> {
    /// Longest stable step, in s; infinite without stiffness.
    pub(crate) fn max_stable_step(self) -> f64 {
        let scheme = self.scheme;
        let damping = &self.dynamics.point_damping;
        let drag =
            self.dynamics.masses.vertices.iter().map(|mass| damping.coefficient(*mass) / mass);
        let drag = drag.fold(0.0, f64::max);
        let longest = |mode: Mode| {
            let dragged = Mode { damping: mode.damping + drag, ..mode };
            max_step_with_margin(scheme, mode).min(max_step_with_margin(scheme, dragged))
        };
        let modes = self.modal_problem();
        let stiffest = modes.dominant_mode([1.0, 0.0], 0.0);
        let mut limit = longest(stiffest);
        if modes.viscous.is_some() {
            let most_damped = modes.dominant_mode([0.0, 1.0], 0.0);
            limit = limit.min(longest(most_damped));
            let rate = 1.0 / limit;
            let least_damped = modes.dominant_mode([1.0, -rate], rate * most_damped.damping);
            limit = limit.min(longest(least_damped));
        }
        PARAMETERS.safety * limit
    }

    fn modal_problem(self) -> ModalProblem {
        let Self { dynamics, tangent, positions, pinned, horizon, .. } = self;
        let (elastic, viscous) = dynamics.with_stiffest_tangents(horizon, |dynamics| {
            let elastic = tangent.element_matrix(dynamics, positions, 0.0).clone();
            let viscous = dynamics
                .is_viscous()
                .then(|| tangent.element_matrix(dynamics, positions, VISCOSITY_PROBE_RATE).clone());
            (elastic, viscous)
        });
        let inverse_sqrt_mass = |row| {
            let vertex = tangent.ordering.vertex(row);
            if pinned[vertex] {
                0.0
            } else {
                (1.0 / dynamics.masses.vertices[vertex].sqrt()) as f32
            }
        };
        let inverse_sqrt_masses = (0..pinned.len()).map(inverse_sqrt_mass).collect();
        ModalProblem { elastic, viscous, inverse_sqrt_masses }
    }
}

/// Matrices of the eigenvalue problem.
struct ModalProblem {
    elastic: BlockMatrix,
    /// Elastic matrix plus viscosity times [`VISCOSITY_PROBE_RATE`].
    viscous: Option<BlockMatrix>,
    /// 1/√m of the vertex of each row; 0 for pinned vertices.
    inverse_sqrt_masses: Vec<f32>,
}

impl ModalProblem {
    /// Mode with the largest ⟨u, (aK + bD + shift)u⟩, by power iteration. It must also be the largest in magnitude.
    fn dominant_mode(&self, [a, b]: [f64; 2], shift: f64) -> Mode {
        let mut mode = Mode { stiffness: 0.0, damping: 0.0 };
        let mut field = self.start_vector();
        for _ in 0..PARAMETERS.power_iterations {
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

    /// Start vector of unit length that has components along all modes almost surely.
    fn start_vector(&self) -> Vec<Vec3> {
        // A linear congruential generator: pseudo-random, with the same values on every machine.
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed >> 8) / f64::from(1 << 23) - 1.0
        };
        let mut field: Vec<Vec3> = Vec::with_capacity(self.inverse_sqrt_masses.len());
        for root in &self.inverse_sqrt_masses {
            let random = Vec3::new(next(), next(), next());
            field.push(if *root > 0.0 { random } else { Vec3::zeros() });
        }
        normalize(&mut field);
        field
    }

    /// Product of M^(−½)·matrix·M^(−½) and a field.
    fn mass_scaled_product(&self, matrix: &BlockMatrix, field: &[Vec3]) -> Vec<Vec3> {
        let pairs = field.iter().zip(&self.inverse_sqrt_masses);
        let scaled: Vec<Row3> = pairs
            .map(|(v, root)| [v.x as f32 * root, v.y as f32 * root, v.z as f32 * root, 0.0])
            .collect();
        let mut images = vec![[0.0; 4]; field.len()];
        matrix.times(&scaled, &mut images);
        let pairs = images.iter().zip(&self.inverse_sqrt_masses);
        let scaled = |(image, root): (&Row3, &f32)| {
            Vec3::new(image[0].into(), image[1].into(), image[2].into()) * f64::from(*root)
        };
        pairs.map(scaled).collect()
    }
}

/// Scales a field to unit length. Returns whether it was nonzero.
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

/// Longest stable step of a mode in s, with the margin on its stiffness, and with and without it on its damping.
fn max_step_with_margin(scheme: ExplicitScheme, mode: Mode) -> f64 {
    let stiffness = PARAMETERS.eigenvalue_margin * mode.stiffness.max(0.0);
    let dampings = [1.0, PARAMETERS.eigenvalue_margin].map(|margin| margin * mode.damping.max(0.0));
    dampings.into_iter().fold(f64::INFINITY, |longest, damping| {
        longest.min(max_stable_step_of_mode(scheme, Mode { stiffness, damping }))
    })
}

/// Longest step in s at which no amplitude of a mode grows, by bisection.
fn max_stable_step_of_mode(scheme: ExplicitScheme, mode: Mode) -> f64 {
    // No explicit scheme here is stable beyond |λ|h = 4.
    let rate = mode.stiffness.sqrt().max(mode.damping);
    if rate <= f64::MIN_POSITIVE {
        return f64::INFINITY;
    }
    let is_stable =
        |step: f64| spectral_radius(scheme, mode, step) <= (step / PARAMETERS.growth_time).exp();
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

/// Spectral radius of the amplification matrix of a scheme for a mode.
fn spectral_radius(scheme: ExplicitScheme, mode: Mode, step: f64) -> f64 {
    // Time in units of the step, so that position and velocity have similar magnitudes.
    let [stiffness, damping] = [mode.stiffness * step * step, mode.damping * step];
    let column = |x: f64, v: f64| {
        let start =
            KinematicState { positions: vec![Vec3::x() * x], velocities: vec![Vec3::x() * v] };
        let end = scheme(&start, 1.0, &mut |now, _| {
            vec![now.positions[0] * -stiffness - now.velocities[0] * damping]
        });
        [end.positions[0].x, end.velocities[0].x]
    };
    let ([a, c], [b, d]) = (column(1.0, 0.0), column(0.0, 1.0));
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
    use crate::{
        linear_solver::Pattern, scene::Integrator, simd::Block, time_integration::explicit_scheme,
    };
    use std::sync::Arc;

    fn longest(integrator: Integrator, stiffness: f64, damping: f64) -> f64 {
        max_stable_step_of_mode(explicit_scheme(integrator).unwrap(), Mode { stiffness, damping })
    }

    #[test]
    fn stability_limits_agree_with_the_closed_forms() {
        let frequency = 1.0e4_f64;
        let stiffness = frequency * frequency;
        for (integrator, damping, wanted) in [
            (Integrator::SymplecticEuler, 0.0, 2.0 / frequency),
            (Integrator::Verlet, 0.0, 2.0 / frequency),
            (Integrator::Rk4, 0.0, 8.0_f64.sqrt() / frequency),
            (Integrator::MidpointCromer, 0.0, 2.0 / frequency),
            (Integrator::HeunCromer, 0.0, 2.0_f64.sqrt() / frequency),
            // h = c/ω² for an underdamped mode.
            (Integrator::Euler, 0.1 * frequency, 0.1 / frequency),
            // h²ω² + 2hc = 4.
            (Integrator::SymplecticEuler, frequency, (5.0_f64.sqrt() - 1.0) / frequency),
        ] {
            let found = longest(integrator, stiffness, damping);
            assert!((found / wanted - 1.0).abs() < 2e-3, "{integrator:?}: {found}, not {wanted}");
        }
    }

    /// A spring of 50 N/m along an oblique direction between particles of 20 g and 30 g, and its damper.
    fn spring(pinned: Option<usize>) -> ModalProblem {
        let direction = Vec3::new(1.0, 2.0, -2.0) / 3.0;
        let rows: [&[u32]; 2] = [&[1], &[0]];
        let pattern = Arc::new(Pattern::of_rows(rows.into_iter()));
        let [elastic, viscous] = [50.0, 50.0 + 0.4 * VISCOSITY_PROBE_RATE].map(|stiffness| {
            let mut matrix = BlockMatrix::new(Arc::clone(&pattern));
            let block = direction * direction.transpose() * stiffness;
            matrix.fill_by(|row, column| {
                Block::from_matrix(&(if row == column { block } else { -block }))
            });
            matrix
        });
        let inverse_sqrt = |(vertex, mass): (usize, f32)| {
            if pinned == Some(vertex) { 0.0 } else { 1.0 / mass.sqrt() }
        };
        let inverse_sqrt_masses = [0.02, 0.03].into_iter().enumerate().map(inverse_sqrt).collect();
        ModalProblem { elastic, viscous: Some(viscous), inverse_sqrt_masses }
    }

    #[test]
    fn the_stiffest_mode_of_a_spring_is_that_of_its_reduced_mass() {
        for (pinned, inverse_mass) in
            [(None, 1.0 / 0.02 + 1.0 / 0.03), (Some(0), 1.0 / 0.03), (Some(1), 1.0 / 0.02)]
        {
            let mode = spring(pinned).dominant_mode([1.0, 0.0], 0.0);
            assert!((mode.stiffness / (50.0 * inverse_mass) - 1.0).abs() < 1e-5, "{mode:?}");
            assert!((mode.damping / (0.4 * inverse_mass) - 1.0).abs() < 1e-4, "{mode:?}");
            // h²ω² + 2hc = 4, with the margin on both.
            let (stiffness, damping) = (mode.stiffness * 1.1, mode.damping * 1.1);
            let wanted = ((damping * damping + 4.0 * stiffness).sqrt() - damping) / stiffness;
            let scheme = explicit_scheme(Integrator::SymplecticEuler).unwrap();
            let found = max_step_with_margin(scheme, mode);
            assert!((found / wanted - 1.0).abs() < 1e-3, "{found}, not {wanted}");
        }
    }

    #[test]
    fn the_growth_of_undamped_modes_limits_explicit_euler() {
        // |R|² = 1 + h²ω² grows by hω²/2 in a second.
        let wanted = 2.0 / (PARAMETERS.growth_time * 1.0e4);
        assert!((longest(Integrator::Euler, 1.0e4, 0.0) / wanted - 1.0).abs() < 1e-2);
        assert!(longest(Integrator::Midpoint, 1.0e4, 0.0) < 0.02);
        assert!(longest(Integrator::Euler, 0.0, 0.0).is_infinite());
    }
}
