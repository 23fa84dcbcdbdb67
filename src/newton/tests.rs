// SPDX-License-Identifier: MIT OR Apache-2.0
//! Newton's method on three triangles.

use super::*;
use crate::{
    material::Material,
    mesh::Polygons,
    response::{ColliderMotion, CollisionResponse, StepStart},
    scene::{Cloth, Collider, Integrator, Model, Settings},
    surface::{CollisionMesh, SurfaceProperties},
    system::PrescribedDisplacement,
    time_integration::{Stage, State},
};
use nalgebra::Matrix3;
use std::{ops::Range, slice::from_ref};

const DURATION: f64 = 0.01;
const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);
/// Contact thickness of every surface, in m.
const THICKNESS: f64 = 1.0e-3;

/// Corners of a strip of three triangles with sides of 0.1 m, at a height in m.
fn strip(height: f64) -> Vec<Vec3> {
    let corner =
        |index: u32| Vec3::new(0.05 * f64::from(index), 0.1 * f64::from(index % 2), height);
    (0..5).map(corner).collect()
}

/// A stage of implicit Euler with all that Newton's method needs to solve it.
struct Scene {
    dynamics: EquationsOfMotion,
    response: CollisionResponse,
    newton: Newton,
    state: State,
    stage: Stage,
    prescribed: Vec<PrescribedDisplacement>,
}

impl Scene {
    /// Cloths of three triangles that start at these positions in m, over colliders; `shape` is what they are at rest.
    fn new(cloths: &[Vec<Vec3>], shape: &[Vec3], colliders: &[Collider]) -> Self {
        Self::of_model(Model::Fem, cloths, shape, colliders)
    }

    fn of_model(
        model: Model,
        cloths: &[Vec<Vec3>],
        shape: &[Vec3],
        colliders: &[Collider],
    ) -> Self {
        let polygons = Polygons::new(&[3; 3], &[0, 2, 1, 1, 2, 3, 2, 4, 3], 5).unwrap();
        let cotton = || Material::preset("cotton").unwrap();
        let cloths: Vec<Cloth> = cloths
            .iter()
            .map(|start| Cloth::new(start.clone(), &polygons, cotton(), Some(shape), None).unwrap())
            .collect();
        let settings = Settings {
            integrator: Integrator::ImplicitEuler,
            model,
            gravity: GRAVITY,
            air_density: 0.0,
            ..Settings::default()
        };
        let mut dynamics = EquationsOfMotion::new(&cloths, &settings);
        let positions: Vec<Vec3> = cloths.iter().flat_map(|one| one.positions.clone()).collect();
        dynamics.elements.initialize_internal_variables(&positions);
        let triangles = &dynamics.mesh.topology.triangles;
        let rest = dynamics.mesh.rest.positions.to_vec();
        let starts = &dynamics.mesh.cloth_starts;
        let mut mesh = CollisionMesh::of_thin_cloths(triangles, starts, rest, colliders);
        let surface = SurfaceProperties { friction: 0.4, thickness: THICKNESS };
        mesh.set_surface_properties(0..positions.len(), &surface);
        let motions = colliders.iter().map(ColliderMotion::new).collect();
        let state = State::at_rest(positions);
        let measures = dynamics.elements.measure(&state.positions);
        Self {
            response: CollisionResponse::new(mesh, motions, &state.positions, true),
            newton: Newton::new(&dynamics, Preconditioning::Multigrid),
            stage: Stage::implicit_euler(&state, measures, DURATION, [Vec::new(), Vec::new()]),
            dynamics,
            state,
            prescribed: Vec::new(),
        }
    }

    /// One strip in its shape at rest, free.
    fn free() -> Self {
        Self::new(&[strip(0.0)], &strip(0.0), &[])
    }

    /// Where the vertices would be without forces, moved by gravity, in m.
    fn inertial_end(&self) -> Vec<Vec3> {
        self.state.positions.iter().map(|x| x + GRAVITY * DURATION.powi(2)).collect()
    }

    /// Holds a vertex where it starts.
    fn pin(&mut self, vertex: usize) {
        let displacement = Vec3::zeros();
        let free_projector = Matrix3::zeros();
        self.prescribed.push(PrescribedDisplacement { vertex, free_projector, displacement });
    }

    /// Begins the step of the response towards predicted positions, in m.
    fn begin_step(&mut self, predicted: &[Vec3]) {
        let compliances =
            self.dynamics.masses.vertices.iter().map(|mass| DURATION.powi(2) / mass).collect();
        self.response.begin_step(StepStart {
            start_positions: &self.state.positions,
            predicted_positions: predicted,
            is_pinned: &vec![false; predicted.len()],
            frame_fractions: [0.0, 1.0],
            duration: DURATION,
            vertex_compliances: compliances,
        });
    }

    /// What a function makes of the stage with an initial guess, in m.
    fn with_stage<Made>(
        &mut self,
        positions: &mut [Vec3],
        criteria: ConvergenceCriteria,
        make: impl FnOnce(StageSolve<'_, '_>) -> Made,
    ) -> Made {
        self.begin_step(positions);
        let objective = &mut Objective {
            dynamics: &mut self.dynamics,
            response: &mut self.response,
            stage: &self.stage,
            state: &self.state,
            prescribed_displacements: &self.prescribed,
            quadratic_model: None,
        };
        let (newton, report) = (&mut self.newton, &mut Report::default());
        make(StageSolve { newton, objective, positions, criteria, report })
    }

    /// Solves the stage from an initial guess in m, which becomes the solution.
    fn solve(&mut self, positions: &mut [Vec3], criteria: ConvergenceCriteria) -> SolveOutcome {
        self.with_stage(positions, criteria, |stage| NewtonSolve::new(stage).run())
    }

    /// Balances net forces at positions in m, with the contacts there.
    fn balance(&mut self, positions: &mut [Vec3]) {
        self.with_stage(positions, criteria(1.0e-6, 1), |stage| {
            let mut solve = NewtonSolve::new(stage);
            solve.evaluate_initial_guess();
            solve.balance_net_forces();
        });
    }

    /// Regime of the iterate after a number of iterations.
    fn regime(&mut self, positions: &mut [Vec3], iterations: usize) -> Regime {
        self.with_stage(positions, criteria(1.0e-9, iterations), |stage| {
            let mut solve = NewtonSolve::new(stage);
            solve.evaluate_initial_guess();
            for _ in 0..iterations {
                let predicted = solve.compute_newton_step().unwrap();
                solve.take_newton_step(&predicted).unwrap();
            }
            solve.progress().regime
        })
    }

    /// Entries of the first tangent between different vertices that act in the direction z, at an initial guess in m.
    fn first_tangent_across(&mut self, positions: &mut [Vec3]) -> Vec<f32> {
        self.with_stage(positions, criteria(1.0e-6, 1), |stage| {
            let mut solve = NewtonSolve::new(stage);
            solve.evaluate_initial_guess();
            solve.compute_newton_step().unwrap();
            let matrix = &solve.newton.system.tangent.matrix;
            let pairs = (0..5).flat_map(|row| (0..row).map(move |column| (row, column)));
            pairs.map(|(row, column)| matrix.block(row, column).0[2][2]).collect()
        })
    }

    /// Momentum at the end of the stage less that of gravity, of some vertices, in kg m/s.
    fn excess_momentum(&self, positions: &[Vec3], vertices: Range<usize>) -> Vec3 {
        let velocity = |v: usize| (positions[v] - self.state.positions[v]) / DURATION;
        let masses = &self.dynamics.masses.vertices;
        vertices.map(|v| (velocity(v) - GRAVITY * DURATION) * masses[v]).sum()
    }
}

/// Criteria of a stage with a tolerance and an iteration limit, whose linear systems are solved closely.
fn criteria(tolerance: f64, max_iterations: usize) -> ConvergenceCriteria {
    let scales =
        LengthScales { tolerance_length: 0.1, mean_edge_length: 0.1, thickness: THICKNESS };
    ConvergenceCriteria::new(tolerance, scales, max_iterations, true).with_linear_tolerance(1.0e-7)
}

/// A floor at a height in m.
fn floor(height: f64) -> Collider {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let corners = corners.map(|[x, y]| Vec3::new(x, y, height)).to_vec();
    Collider::new(corners, &[[0, 1, 2], [0, 2, 3]], 0.4, THICKNESS).unwrap()
}

fn scaled(positions: &[Vec3], factor: f64) -> Vec<Vec3> {
    positions.iter().map(|x| x * factor).collect()
}

/// Positions displaced by up to a length in m, each otherwise.
fn displaced(positions: &[Vec3], length: f64) -> Vec<Vec3> {
    let displacement = |index: usize| {
        let phase = index as f64;
        Vec3::new(phase.sin(), (2.0 * phase).cos(), (3.0 * phase + 1.0).sin()) * length
    };
    positions.iter().enumerate().map(|(index, x)| x + displacement(index)).collect()
}

/// A strip that stands in another one.
fn crossing() -> [Vec<Vec3>; 2] {
    [strip(0.0), strip(0.0).iter().map(|x| Vec3::new(x.x, x.z + 0.05, x.y - 0.03)).collect()]
}

/// Lengths of four Newton steps of stretched triangles, in units of their sides.
fn step_lengths(model: Model) -> Vec<f64> {
    let start = scaled(&strip(0.0), 1.2);
    let length = |iterations: usize| {
        let mut scene = Scene::of_model(model, from_ref(&start), &strip(0.0), &[]);
        scene.solve(&mut start.clone(), criteria(1.0e-12, iterations)).step_length
    };
    (2..6).map(|iterations| length(iterations) / 0.1).collect()
}

/// With bending elements that have no stiffness in the plane.
#[test]
fn newton_converges_quadratically_on_stretched_triangles() {
    // 0.45, 0.014, 1.3e-5, 1.5e-11.
    let lengths = step_lengths(Model::FemBridson);
    assert!(lengths[0] > 0.1 && lengths[3] < 1.0e-9, "{lengths:?}");
    for pair in lengths.windows(2) {
        assert!(pair[1] < 0.2 * pair[0].powi(2), "{lengths:?}");
    }
}

/// The constant stiffness of bending also acts in the plane, where the forces of bending do not.
#[test]
fn constant_bending_stiffness_leaves_a_small_linear_part_of_the_convergence() {
    let lengths = step_lengths(Model::Fem);
    assert!(lengths[0] > 0.1 && lengths[3] < 1.0e-9, "{lengths:?}");
    for pair in lengths.windows(2) {
        assert!(pair[1] < 0.2 * pair[0].powi(2) + 5.0e-6 * pair[0], "{lengths:?}");
    }
}

#[test]
fn the_end_of_a_free_fall_is_found_in_one_iteration() {
    let mut scene = Scene::free();
    let mut positions = scene.state.positions.clone();
    let outcome = scene.solve(&mut positions, criteria(1.0e-6, 9));
    assert!(outcome.converged() && outcome.is_collision_free, "{outcome:?}");
    for (found, wanted) in positions.iter().zip(scene.inertial_end()) {
        assert!((found - wanted).norm() < 1.0e-9, "{found} for {wanted}");
    }
}

#[test]
fn cloth_ends_a_stage_no_closer_to_a_floor_than_both_are_thick() {
    let height = 2.5 * THICKNESS;
    let mut scene = Scene::new(&[strip(height)], &strip(0.0), &[floor(0.0)]);
    let mut positions = scene.inertial_end();
    assert!(positions.iter().all(|x| x.z < 2.0 * THICKNESS - 1.0e-4));
    let outcome = scene.solve(&mut positions, criteria(1.0e-3, 30));
    assert!(outcome.converged() && outcome.is_collision_free, "{outcome:?}");
    let heights: Vec<f64> = positions.iter().map(|x| x.z).collect();
    assert!(heights.iter().all(|z| (z - 2.0 * THICKNESS).abs() < 1.0e-6), "{heights:?}");
}

#[test]
fn contacts_determine_the_regime() {
    let rest = strip(0.0);
    assert_eq!(Scene::free().regime(&mut strip(0.0), 0), Regime::Free);
    let near = strip(1.5 * THICKNESS);
    let mut on_floor = Scene::new(from_ref(&near), &rest, &[floor(0.0)]);
    assert_eq!(on_floor.regime(&mut near.clone(), 1), Regime::OnSolids);
    let layers = [strip(0.0), near];
    let mut layered = Scene::new(&layers, &rest, &[]);
    for iterations in [0, 1] {
        assert_eq!(layered.regime(&mut layers.concat(), iterations), Regime::Layered);
    }
    let mut crossed = Scene::new(&crossing(), &rest, &[]);
    let regime = crossed.regime(&mut crossing().concat(), 0);
    assert!(matches!(regime, Regime::Untangling(_)), "{regime:?}");
}

/// Tension holds flat cloth against displacements out of its plane, so that the tangent shows it.
#[test]
fn the_first_tangent_has_the_stresses_of_the_start_and_not_those_of_the_guess() {
    let (slack, tense) = (strip(0.0), scaled(&strip(0.0), 1.02));
    let across = |start: &Vec<Vec3>, guess: &[Vec3]| {
        Scene::new(from_ref(start), &slack, &[]).first_tangent_across(&mut guess.to_vec())
    };
    let [without, with] = [&slack, &tense].map(|start| across(start, start));
    let difference = |a: &[f32], b: &[f32]| -> f32 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    let tension = difference(&without, &with);
    assert!(tension > 1.0, "{tension} N/m");
    assert!(difference(&across(&slack, &tense), &without) < 1.0e-4 * tension);
    assert!(difference(&across(&tense, &slack), &with) < 1.0e-4 * tension);
}

#[test]
fn one_step_minimises_a_quadratic_model() {
    let mut scene = Scene::free();
    let point = displaced(&strip(0.0), 0.02);
    let forces = displaced(&vec![Vec3::zeros(); point.len()], 5.0e-3);
    let mut positions = point.clone();
    let outcome = scene.with_stage(&mut positions, criteria(1.0e-6, 9), |stage| {
        let masses = stage.objective.dynamics.masses.vertices.clone();
        let expansion = Expansion { point: &point, residuals: &forces };
        let model =
            QuadraticModel::new(ModelHessian::Inertia, stage.objective.stage, &masses, expansion);
        let quadratic = stage.objective.with_quadratic_model(&model);
        assert_eq!(Regime::new(&quadratic, true), Regime::Quadratic(None));
        stage.with_quadratic_model(&model)
    });
    assert!(outcome.converged() && outcome.iterations <= 2, "{outcome:?}");
    let masses = scene.dynamics.masses.vertices.iter();
    for (((found, origin), force), mass) in positions.iter().zip(&point).zip(&forces).zip(masses) {
        let displacement = force * DURATION.powi(2) / *mass;
        let error = (found - origin - displacement).norm();
        assert!(error < 1.0e-5 * displacement.norm(), "{error} of {displacement}");
    }
}

/// Energy norm of the first Newton step of stretched triangles, and what the forces say of it, in J.
fn squared_norms() -> [f64; 3] {
    let start = scaled(&strip(0.0), 1.2);
    let mut scene = Scene::new(from_ref(&start), &strip(0.0), &[]);
    scene.with_stage(&mut start.clone(), criteria(1.0e-6, 9), |stage| {
        let mut solve = NewtonSolve::new(stage);
        solve.evaluate_initial_guess();
        let predicted = solve.compute_newton_step().unwrap();
        let mut step = vec![Vec3::zeros(); start.len()];
        let system = &solve.newton.system;
        system.scatter_newton_step(&mut step);
        let mut product = system.newton_step.clone();
        system.tangent.matrix.times(&system.newton_step, &mut product);
        let rows = system.newton_step.iter().zip(&product);
        let sum = rows.map(|(d, p)| (0..3).map(|k| f64::from(d[k] * p[k])).sum::<f64>()).sum();
        let mut work = |fraction: f64| -> f64 {
            let end: Vec<Vec3> = start.iter().zip(&step).map(|(x, d)| x + d * fraction).collect();
            let mut forces = step.clone();
            solve.objective.evaluate(&end, &mut forces, solve.report);
            forces.iter().zip(&step).map(|(force, d)| force.dot(d)).sum()
        };
        let difference = (work(-1.0e-4) - work(1.0e-4)) / 2.0e-4;
        [predicted.squared_norms[0], sum, difference]
    })
}

#[test]
fn the_energy_norm_of_a_step_is_its_product_with_the_matrix_and_the_change_of_the_forces() {
    let [norm, product, difference] = squared_norms();
    assert!(norm > 0.0 && (product / norm - 1.0).abs() < 1.0e-4, "{product} for {norm}");
    assert!((difference / norm - 1.0).abs() < 1.0e-3, "{difference} for {norm}");
}

#[test]
fn the_energy_norm_of_a_translation_is_its_length() {
    let mut scene = Scene::free();
    let (stage, start) = (scene.stage.clone(), scene.state.positions.clone());
    scene.dynamics.evaluate(&stage, &start, &mut start.clone(), &mut Report::default());
    let tangent = scene.newton.tangent_without_contacts();
    tangent.assemble(&mut scene.dynamics, &stage);
    let translation = vec![[0.003_f32, 0.0, 0.004, 0.0]; 5];
    let mut product = translation.clone();
    tangent.matrix.times(&translation, &mut product);
    let norm = EnergyNorm::new(&scene.dynamics, &stage);
    let squares = norm.products_per_cloth(&tangent.ordering, &translation, &product);
    let length = norm.equivalent_displacements(&squares)[0];
    assert!((length / 0.005 - 1.0).abs() < 1.0e-4, "{length}");
}

/// A line search along a multiple of the Newton step of stretched triangles.
struct Search {
    /// Potential at its start and end, in J.
    potentials: [f64; 2],
    /// Displacement of a vertex, in units of that of the Newton step.
    moved: f64,
}

fn search(factor: f32) -> Search {
    let start = scaled(&strip(0.0), 1.05);
    let mut scene = Scene::new(from_ref(&start), &strip(0.0), &[]);
    scene.with_stage(&mut start.clone(), criteria(1.0e-6, 9), |stage| {
        let mut solve = NewtonSolve::new(stage);
        solve.evaluate_initial_guess();
        let mut predicted = solve.compute_newton_step().unwrap();
        let mut step = start.clone();
        solve.newton.system.scatter_newton_step(&mut step);
        for row in &mut solve.newton.system.newton_step {
            *row = row.map(|component| component * factor);
        }
        predicted.slope *= f64::from(factor);
        solve.take_newton_step(&predicted).unwrap();
        let [before, after] = solve.recent_potentials[..] else { panic!("two iterates") };
        let moved = (solve.positions[4] - start[4]).norm() / step[4].norm();
        Search { potentials: [before, after], moved }
    })
}

#[test]
fn the_potential_falls_along_a_newton_step() {
    let Search { potentials: [before, after], moved } = search(1.0);
    assert!(after < before && (moved - 1.0).abs() < 1.0e-5, "{before}, {after}, {moved}");
}

#[test]
fn a_step_that_is_too_long_is_halved_until_the_potential_falls() {
    for factor in [8.0, 64.0] {
        let Search { potentials: [before, after], moved } = search(factor);
        assert!(after < before, "{before}, {after}");
        let halvings = (f64::from(factor) / moved).log2();
        assert!((halvings - halvings.round()).abs() < 1.0e-4, "{halvings} halvings");
        // Along a parabola the potential falls up to twice the Newton step.
        assert!((0.9..2.1).contains(&moved), "{moved} steps");
    }
}

#[test]
fn a_balanced_cloth_has_the_momentum_that_gravity_gives() {
    let mut scene = Scene::free();
    let mut positions = displaced(&strip(0.0), 0.01);
    assert!(scene.excess_momentum(&positions, 0..5).norm() > 1.0e-3);
    scene.balance(&mut positions);
    assert!(scene.excess_momentum(&positions, 0..5).norm() < 1.0e-12);
}

#[test]
fn momentum_is_that_of_gravity_however_loosely_a_stage_is_solved() {
    let mut scene = Scene::free();
    let mut positions = displaced(&strip(0.0), 0.01);
    let outcome = scene.solve(&mut positions, criteria(1.0e-9, 1));
    assert!(!outcome.converged(), "{outcome:?}");
    assert!(scene.excess_momentum(&positions, 0..5).norm() < 1.0e-12);
}

#[test]
fn only_what_nothing_holds_is_balanced() {
    let cloths = [strip(0.0), strip(1.0)];
    let mut scene = Scene::new(&cloths, &strip(0.0), &[]);
    scene.pin(0);
    let guess = displaced(&cloths.concat(), 0.01);
    let mut positions = guess.clone();
    scene.balance(&mut positions);
    assert_eq!(positions[1..5], guess[1..5]);
    assert!(scene.excess_momentum(&positions, 5..10).norm() < 1.0e-12);
    let near = strip(1.5 * THICKNESS);
    let mut on_floor = Scene::new(from_ref(&near), &strip(0.0), &[floor(0.0)]);
    let mut positions = near.clone();
    on_floor.balance(&mut positions);
    assert_eq!(positions, near);
}
