// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenes that run, and the best times of their steps.

use super::sheet::{Order, Sheet};
use std::time::Instant;
use weft::{Cloth, Collider, Report, Settings, Simulation, Vec3};

/// Length of a step, in s.
pub(crate) const STEP: f64 = 1.0 / 96.0;

/// A sheet with a number of vertices, hanging from two corners, or a pile of four of them on the ground.
pub(crate) struct Scene {
    pub(crate) simulation: Simulation,
    /// Time that it took to build, in s.
    pub(crate) built: f64,
}

impl Scene {
    pub(crate) fn new(count: usize, threads: usize, order: Order) -> Self {
        let side = side_of(count);
        let is_pile = order == Order::Pile;
        let (side, layers) = if is_pile { (side / 2, 4) } else { (side, 1) };
        let sheets: Vec<Sheet> = (0..layers).map(|layer| Sheet::new(side, order, layer)).collect();
        let cloths: Vec<Cloth> = sheets.iter().map(Sheet::cloth).collect();
        let colliders = if is_pile { vec![ground()] } else { vec![] };
        let settings = Settings { threads, ..Settings::default() };
        let start = Instant::now();
        let mut simulation = Simulation::new(&cloths, &colliders, settings).expect("a sound scene");
        let built = start.elapsed().as_secs_f64();
        if !is_pile {
            simulation.set_pins(0, &sheets[0].pins, None).expect("pins");
        }
        Self { simulation, built }
    }

    pub(crate) fn advance(&mut self, steps: usize) -> Steps {
        Steps((0..steps).map(|_| self.simulation.step(STEP).expect("a step")).collect())
    }
}

/// The side of the smallest square with a number of vertices.
pub(crate) fn side_of(count: usize) -> usize {
    (1..=count).find(|side| side * side >= count).unwrap_or(count)
}

fn ground() -> Collider {
    let corners = [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]];
    let corners = corners.map(|[x, y]| Vec3::new(x, y, 0.0));
    Collider::new(corners.to_vec(), &[[0, 1, 2], [0, 2, 3]], 0.3, 0.001).expect("ground")
}

/// Reports of steps.
pub(crate) struct Steps(Vec<Report>);

impl Steps {
    /// The smallest figure of all: other work on the machine only ever adds time.
    pub(crate) fn best(&self, figure: impl Fn(&Report) -> f64) -> f64 {
        self.0.iter().map(figure).filter(|one| !one.is_nan()).fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn total(&self, count: impl Fn(&Report) -> usize) -> usize {
        self.0.iter().map(count).sum()
    }

    /// The best time of a task over what it is `per`, in s.
    pub(crate) fn task(&self, name: &str, per: impl Fn(&Report) -> usize) -> f64 {
        let seconds = |report: &Report| {
            report.seconds().find(|(known, _)| *known == name).map_or(0.0, |(_, seconds)| seconds)
        };
        self.best(|report| seconds(report) / per(report) as f64)
    }
}

/// Corrections of a step.
pub(crate) fn newton_iterations(report: &Report) -> usize {
    report.newton_iterations
}

/// Applications of the preconditioner in a step.
pub(crate) fn cycles(report: &Report) -> usize {
    report.newton_iterations + report.linear_iterations
}
