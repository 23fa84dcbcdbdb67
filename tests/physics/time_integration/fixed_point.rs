// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the fixed-point iteration of Etzmuss 2002, section 3.4.3, converges: table 3.1 of that document, in numbers
//! without units. The numerical stiffness is h²k/(ρl²).

use crate::fixtures::scenes::sheet;
use weft::{Integrator, Material, Settings, Simulation, Solver, Vec3};

const STEP: f64 = 0.01;
const SIDE: usize = 11;
const SIZE: f64 = 0.4;
const STEPS: usize = 20;

/// Mean cost of solving a step.
struct Effort {
    updates: f64,
    linear: f64,
    /// Steps that did not come to the tolerance.
    unsolved: usize,
}

/// A sheet without weight to speak of in its stiffness, hung from two corners, with a limit of updates.
fn effort(stiffness: f64, damping: f64, solver: Solver, allowed: usize) -> Effort {
    let (density, edge) = (0.2, SIZE / (SIDE - 1) as f64);
    let modulus = stiffness * density * edge * edge / (STEP * STEP);
    let time = damping * STEP;
    let material = Material {
        density,
        stretch_warp: modulus,
        stretch_weft: modulus,
        shear: 0.1 * modulus,
        poisson: 0.0,
        bend_warp: 1.0e-5,
        bend_weft: 1.0e-5,
        stretch_damping: time,
        shear_damping: time,
        bend_damping: time,
        ..Material::default()
    };
    let settings = Settings {
        integrator: Integrator::Bdf2,
        solver,
        max_iterations: allowed / 4,
        gravity: Vec3::new(0.0, 0.5, -9.81),
        threads: 1,
        ..Settings::default()
    };
    let mut simulation =
        Simulation::new(&[sheet(SIDE, SIZE, 0.0, material)], &[], settings).unwrap();
    simulation.set_pins(0, &[0, SIDE - 1], None).unwrap();
    let mut effort = Effort { updates: 0.0, linear: 0.0, unsolved: 0 };
    for _ in 0..STEPS {
        let report = simulation.step(STEP).unwrap();
        effort.updates += report.newton_iterations as f64 / STEPS as f64;
        effort.linear += report.linear_iterations as f64 / STEPS as f64;
        effort.unsolved += usize::from(!report.converged);
    }
    effort
}

/// Damping makes it slower, too, where the document found it to make it faster: there the damping resists all motion
/// between neighbours, as the constant matrix has it, and here only that which strains.
#[test]
fn stiffness_and_damping_make_the_iteration_slower() {
    let effort = |stiffness, damping| effort(stiffness, damping, Solver::FixedPoint, 800);
    let (soft, stiff, damped) = (effort(1.0, 0.1), effort(1.0e3, 0.1), effort(1.0e3, 10.0));
    assert!(soft.updates < 5.0 && soft.unsolved == 0, "{} updates a step", soft.updates);
    // As the square root of the stiffness, by Anderson's acceleration.
    let ratio = stiff.updates / soft.updates;
    assert!(ratio > 5.0 && ratio < 60.0 && stiff.unsolved == 0, "{ratio} times the updates");
    assert!(damped.updates > 1.5 * stiff.updates, "{} updates a step", damped.updates);
}

/// With a handful of updates nothing stiff is solved, and every step says so.
#[test]
fn what_has_not_converged_is_not_said_to_have() {
    let effort = effort(1.0e4, 0.0, Solver::FixedPoint, 8);
    // But for the first, which finds the sheet flat.
    assert!(effort.unsolved >= STEPS - 1, "{} of {STEPS} steps", effort.unsolved);
}

/// Where nothing touches and nothing converges, either: the budget of a frame, the stage in which it ends, and the hurried
/// steps after that.
#[test]
fn a_frame_ends_however_stiff_the_cloth_is() {
    let material = Material {
        stretch_warp: 1.0e13,
        stretch_weft: 1.0e13,
        shear: 1.0e12,
        poisson: 0.0,
        ..Material::default()
    };
    let settings = Settings { solver: Solver::FixedPoint, threads: 1, ..Settings::default() };
    let settings = Settings { time_step: 1.0 / 96.0, ..settings };
    let cloth = sheet(SIDE, SIZE, 0.0, material);
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &[0, SIDE - 1], None).unwrap();
    for _ in 0..3 {
        let report = simulation.advance(1.0 / 24.0).unwrap();
        assert!(!report.converged, "{report:?}");
        assert!(report.newton_iterations <= 4 * 28 * 120 + 120 + 128 * 40, "{report:?}");
        assert!(simulation.positions(0).unwrap().iter().all(|x| x.norm() < 10.0), "{report:?}");
    }
}

/// Prints the map.
#[test]
#[ignore = "a table to look at"]
#[allow(clippy::print_stdout, reason = "that is what it is for")]
fn where_the_iteration_converges() {
    println!("h²k/(ρl²)  damping/h   updates  linear  unsolved   Newton  linear  unsolved");
    for stiffness in [1.0, 10.0, 100.0, 1.0e3, 1.0e4, 1.0e5] {
        for damping in [0.0, 0.1, 1.0, 10.0] {
            let found = effort(stiffness, damping, Solver::FixedPoint, 1000);
            let newton = effort(stiffness, damping, Solver::Newton, 1000);
            println!(
                "{stiffness:9} {damping:10}  {:8.1} {:7.1} {:6}/{STEPS} {:8.1} {:7.1} {:6}/{STEPS}",
                found.updates,
                found.linear,
                found.unsolved,
                newton.updates,
                newton.linear,
                newton.unsolved
            );
        }
    }
}
