// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scene in motion.

mod access;
mod checkpoint;
mod dynamics;
mod guides;
mod models;
mod newton;
mod report;
mod scheme;
mod state;
mod step;
mod tangent;

pub use dynamics::Energy;
pub use report::{Report, Task};

use crate::{
    Cloth, Collider, Material, Vec3,
    collision::{ClothSurfaces, Obstacle, Response, Surface, Surfaces},
    error::{Error, Result},
    forces,
    settings::{Settings, check_positive},
};
use dynamics::Dynamics;
use guides::Guides;
use newton::Newton;
use rayon::ThreadPool;
use state::State;
use std::{sync::Arc, time::Instant};
use step::Span;

/// Cloths and colliders in motion.
pub struct Simulation {
    settings: Settings,
    dynamics: Dynamics,
    response: Response,
    guides: Guides,
    newton: Newton,
    state: State,
    /// Length of the next step, in s, as the convergence of the last ones suggests.
    preferred_step: f64,
    /// Mean edge length, in m.
    edge_length: f64,
    /// How far the current frame has come, from 0 to 1.
    frame_part: f64,
    pool: Arc<ThreadPool>,
}

/// After that many steps are as short as this part of the longest, and have so many corrections at most.
const HURRIED: (f64, usize) = (0.125, 10);
/// Steps that one call may be asked for.
const MOST_STEPS: f64 = 1.0e7;
/// A step is not made shorter than this part of the longest.
const SHORTEST_STEP: f64 = 1.0 / 64.0;
/// A frame with contacts that has taken the corrections of so many stages for each of its longest steps refuses none
/// any more.
const MOST_STAGES: f64 = 7.0;
/// Steps are lengthened after one that took less than this part of the iterations allowed, and by how much.
const EASY: (f64, f64) = (0.5, 1.5);
/// Steps are shortened after one that took more than this part of the iterations allowed, and by how much.
const HARD: (f64, f64) = (0.9, 0.75);

impl Simulation {
    /// A scene at rest.
    ///
    /// # Errors
    /// No cloth, a setting out of range, cloths that the model cannot simulate, or threads that the system refuses.
    pub fn new(cloths: &[Cloth], colliders: &[Collider], settings: Settings) -> Result<Self> {
        let settings = settings.checked()?;
        if cloths.is_empty() {
            return Err(Error::value("cloths", "no cloths", "one cloth or more"));
        }
        models::check(settings.model, cloths)?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.threads)
            .build()
            .map_err(|error| Error::System { reason: error.to_string() })?;
        let positions: Vec<Vec3> =
            cloths.iter().flat_map(|cloth| cloth.positions.iter().copied()).collect();
        let obstacles = colliders.iter().map(Obstacle::new).collect();
        let (dynamics, newton) = pool.install(|| {
            let dynamics = Dynamics::new(cloths, &settings);
            let newton = Newton::new(&dynamics, settings.preconditioner);
            (dynamics, newton)
        });
        let surfaces = Surfaces::new(
            ClothSurfaces {
                triangles: &dynamics.mesh.topology.triangles,
                starts: &dynamics.mesh.cloth_starts,
                kinds: cloths.iter().map(|cloth| surface(&cloth.material)).collect(),
                rest: cloths.iter().flat_map(|cloth| cloth.rest.iter().copied()).collect(),
                areas: &dynamics.mesh.rest.vertex_areas,
            },
            colliders,
        );
        Ok(Self {
            preferred_step: settings.time_step,
            frame_part: 0.0,
            edge_length: dynamics.mesh.rest.mean_edge_length(),
            response: Response::new(surfaces, obstacles, &positions, settings.self_collision),
            guides: Guides::default(),
            state: State::at_rest(positions),
            settings,
            dynamics,
            newton,
            pool: Arc::new(pool),
        })
    }

    /// Simulates `duration` seconds with as many steps as needed, none longer than `time_step`. Hard
    /// contact makes steps shorter, never an error.
    ///
    /// # Errors
    /// A duration that is not positive, or a vertex that stops being a number; the state before
    /// that step is kept.
    pub fn advance(&mut self, duration: f64) -> Result<Report> {
        check_positive("duration", duration)?;
        if duration > MOST_STEPS * self.settings.time_step {
            let wanted = format!("at most {MOST_STEPS:e} steps of {:?} s", self.settings.time_step);
            return Err(Error::value("duration", format!("{duration:?} s"), wanted));
        }
        self.run(|simulation, report| simulation.advance_frame(duration, report))
    }

    /// Simulates exactly one step of `duration` seconds.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn step(&mut self, duration: f64) -> Result<Report> {
        check_positive("h", duration)?;
        self.run(|simulation, report| {
            let corrections = simulation.settings.max_iterations;
            let span = Span { start: 0.0, end: 1.0, duration, corrections };
            let candidate = simulation.solve_step(span, report);
            simulation.check_finite(candidate.not_finite())?;
            simulation.take(candidate, span, report);
            simulation.frame_part = 1.0;
            Ok(())
        })
    }

    /// Runs a frame with the threads of the simulation, and closes it.
    fn run(
        &mut self,
        frame: impl FnOnce(&mut Self, &mut Report) -> Result<()> + Send,
    ) -> Result<Report> {
        let start = Instant::now();
        let pool = Arc::clone(&self.pool);
        self.frame_part = 0.0;
        let outcome = pool.install(|| {
            let mut report = Report::default();
            frame(self, &mut report)?;
            report.max_stretch =
                forces::largest_stretch(&self.dynamics.mesh, &self.state.positions);
            Ok(report)
        });
        // What is led stays where the frame has come to: at its end, or where an error ended it.
        self.guides.end_frame(self.frame_part);
        for obstacle in self.response.obstacles_mut() {
            obstacle.end_frame(self.frame_part);
        }
        let mut report: Report = outcome?;
        report.total_seconds = start.elapsed().as_secs_f64();
        Ok(report)
    }

    fn advance_frame(&mut self, duration: f64, report: &mut Report) -> Result<()> {
        let most = MOST_STAGES
            * self.settings.max_iterations as f64
            * (duration / self.settings.time_step).max(1.0);
        let (mut done, mut spent) = (0.0, 0);
        while done < 1.0 {
            let remaining = duration * (1.0 - done);
            let is_spent = spent as f64 >= most;
            let longest = if is_spent {
                HURRIED.0 * self.settings.time_step
            } else {
                self.preferred_step.min(self.settings.time_step)
            };
            // A little more than the longest step is still one step: a frame of 1/24 s is two of 1/48 s.
            let count = (remaining / longest - 1.0e-6).ceil().max(1.0);
            let end = if count > 1.0 { done + (1.0 - done) / count } else { 1.0 };
            let corrections = if is_spent { HURRIED.1 } else { self.settings.max_iterations };
            let span = Span { start: done, end, duration: remaining / count, corrections };
            let before = report.newton_iterations;
            let candidate = self.solve_step(span, report);
            let corrections = report.newton_iterations - before;
            if !self.response.contacts().is_empty() {
                spent += corrections;
            }
            let shortest = SHORTEST_STEP * duration.min(self.settings.time_step);
            let can_shorten = !is_spent && 0.5 * span.duration >= shortest;
            let bad_vertex = candidate.not_finite();
            if can_shorten && (bad_vertex.is_some() || !candidate.solved.converged) {
                self.preferred_step = 0.5 * span.duration;
                report.rejected_steps += 1;
                continue;
            }
            self.check_finite(bad_vertex)?;
            self.take(candidate, span, report);
            self.steer(corrections as f64, span.duration);
            done = end;
            self.frame_part = end;
        }
        Ok(())
    }

    /// Lengthens or shortens the next step by how hard this one was (Etzmuss 2002, section 3.4.3).
    fn steer(&mut self, iterations: f64, duration: f64) {
        let allowed = self.settings.max_iterations as f64;
        if iterations < EASY.0 * allowed {
            self.preferred_step = (EASY.1 * self.preferred_step).min(self.settings.time_step);
        } else if iterations > HARD.0 * allowed {
            let shortest = SHORTEST_STEP * self.settings.time_step;
            self.preferred_step = (HARD.1 * duration).max(shortest);
        }
    }

    fn check_finite(&self, vertex: Option<usize>) -> Result<()> {
        vertex.map_or(Ok(()), |vertex| {
            let (cloth, vertex) = self.dynamics.mesh.cloth_of_vertex(vertex);
            Err(Error::NotFinite { cloth, vertex, time: self.state.time })
        })
    }
}

fn surface(material: &Material) -> Surface {
    Surface { friction: material.friction, thickness: material.thickness }
}
