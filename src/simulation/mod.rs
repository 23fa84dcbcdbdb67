// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scene in motion.

mod acceptance;
mod accessors;
mod animated_settings;
mod checkpoint;
mod energy_guard;
mod predictor;
mod stage_solve;
mod step;
mod step_control;
#[cfg(test)]
mod tests;
mod velocity_trust;

use crate::{
    Vec3,
    error::{Error, Result},
    forces,
    material::Material,
    newton::Newton,
    parallel::{BufferPool, SimulationThreads},
    response::{ColliderMotion, CollisionResponse},
    scene::{Cloth, Collider, Preconditioning, Report, Settings, Solver, check_duration},
    surface::{ClothCollisionData, CollisionMesh, SurfaceProperties},
    system::{BoundaryConditions, ConstantStiffness, EquationsOfMotion},
    time_integration::State,
};

use std::{sync::Arc, time::Instant};
use step::TrialStep;
use step_control::{StepControl, StepInterval, TruncationTolerance};

/// Cloths and colliders in motion.
pub struct Simulation {
    settings: Settings,
    /// Of what it is made of, for checkpoints.
    fingerprint: u32,
    dynamics: EquationsOfMotion,
    response: CollisionResponse,
    boundary_conditions: BoundaryConditions,
    newton: Newton,
    /// The constant matrix, and the count of changes of materials that it was made after.
    constant_stiffness: (u64, ConstantStiffness),
    state: State,
    /// Of vectors of all vertices.
    buffers: BufferPool<Vec<Vec3>>,
    /// Length of the next step, in s, as the convergence of the last ones suggests.
    preferred_step_size: f64,
    step_control: StepControl,
    /// Longest stable step of an explicit scheme, in s.
    stable_step_size: f64,
    /// Mean edge length, and the length that tolerances are parts of, in m.
    mean_edge_length: f64,
    tolerance_length: f64,
    /// How far the current frame has come, from 0 to 1.
    frame_fraction: f64,
    workers: SimulationThreads,
}

/// After that many steps are as short as this part of the longest, and have so many corrections at most.
const HURRIED: (f64, usize) = (0.03125, 10);
/// Pairs for each vertex beyond which a correction counts as several: what is crushed has pairs without end.
const CROWDED: f64 = 24.0;
/// Steps that one call may be asked for.
const MAX_STEPS_PER_CALL: f64 = 1.0e7;
/// A step is not made shorter than this part of the longest.
const SHORTEST_STEP: f64 = 1.0 / 256.0;
/// Explicit schemes whose steps are shorter look at contacts in intervals of this, in s: a vertex at 3 m/s goes 1.5 mm.
const CONTACT_INTERVAL: f64 = 5.0e-4;
/// Idle vectors of all vertices: as many as a step gives back.
const VECTORS: usize = 4;
/// Steps after which the longest stable one is looked for anew.
const STABLE_FOR: usize = 64;
/// A cloth that needs shorter steps than this, in s, is refused: 10 000 a film frame.
const SHORTEST_STABLE_STEP: f64 = 1.0 / 240_000.0;
/// A frame that has taken the corrections of so many stages for each of its longest steps refuses none any more: see
/// `Simulation::cost`.
const MOST_STAGES: f64 = 28.0;
/// How much steps are lengthened.
const LENGTHENING: f64 = 2.0;
/// Steps are shortened after one that took more than this part of the iterations allowed, and by how much.
const HARD: (f64, f64) = (0.9, 0.75);
/// Steps of more than half of the longest may take less: where corrections crumple cloth, two of half the length take no
/// more, and at 10 000 vertices a tenth fewer. They are tried again after shorter ones that took no more than half of that.
const LONG: (f64, f64) = (0.5, 0.45);
/// Nor are steps that long in which layers would slide on each other by more than this part of an edge: what they meet
/// on the way counts.
const LONGEST_SLIDE: f64 = 0.5;

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
        crate::system::check_cloths(&settings, cloths)?;
        let mut positions: Vec<Vec3> =
            cloths.iter().flat_map(|cloth| cloth.positions.iter().copied()).collect();
        let workers = SimulationThreads::new(settings.threads, positions.len())?;
        let obstacles = colliders.iter().map(ColliderMotion::new).collect();
        let (mut dynamics, newton) = workers.run(|| {
            let dynamics = EquationsOfMotion::new(cloths, &settings);
            let preconditioner = if settings.integrator.is_explicit() {
                // All that couples vertices is contacts.
                Preconditioning::BlockJacobi
            } else {
                settings.preconditioner
            };
            let newton = Newton::new(&dynamics, preconditioner);
            (dynamics, newton)
        });
        // Where nothing can meet there is nothing to keep apart, and no need to know of edges and triangles.
        let is_alone = colliders.is_empty() && !settings.self_collision;
        let triangles = &dynamics.mesh.topology.triangles;
        let surfaces = CollisionMesh::new(
            ClothCollisionData {
                triangles: if is_alone { &[] } else { triangles },
                vertex_offsets: &dynamics.mesh.cloth_starts,
                surface_properties: cloths.iter().map(|cloth| surface(&cloth.material)).collect(),
                rest_positions: Arc::clone(&dynamics.mesh.rest.positions),
                vertex_areas: Arc::clone(&dynamics.mesh.rest.vertex_areas),
                seams: &dynamics.seams,
                contact_filter: crate::system::contact_exclusions(cloths, colliders.len())?,
                friction_scale: crate::system::concatenated(cloths, 1.0, |cloth| {
                    cloth.friction_scale.as_ref()
                }),
            },
            colliders,
        );
        let mut response =
            CollisionResponse::new(surfaces, obstacles, &positions, settings.self_collision);
        workers.run(|| {
            response.separate_coincident_cloth(&mut positions);
            dynamics.initialize_internal_variables(&positions);
        });
        let mut simulation = Self {
            preferred_step_size: settings.time_step,
            step_control: StepControl::default(),
            stable_step_size: f64::INFINITY,
            frame_fraction: 0.0,
            mean_edge_length: crate::newton::min_mean_edge_length(&dynamics.mesh),
            tolerance_length: crate::newton::tolerance_length(&dynamics.mesh),
            response,
            boundary_conditions: BoundaryConditions::default(),
            state: State::at_rest(positions),
            buffers: BufferPool::new(VECTORS),
            fingerprint: crate::simulation::checkpoint::fingerprint(cloths, colliders, &settings),
            settings,
            dynamics,
            newton,
            constant_stiffness: (0, ConstantStiffness::default()),
            workers,
        };
        simulation.update_rest_length_scales();
        Ok(simulation)
    }

    /// Simulates `duration` seconds with as many steps as needed, none longer than `time_step`. Hard
    /// contact makes steps shorter, never an error.
    ///
    /// # Errors
    /// A duration that is not positive, or below the shortest time step; or a vertex that stops being a number: the state
    /// before that step is kept.
    pub fn advance(&mut self, duration: f64) -> Result<Report> {
        check_duration("duration", duration)?;
        if duration > MAX_STEPS_PER_CALL * self.settings.time_step {
            let wanted =
                format!("at most {MAX_STEPS_PER_CALL:e} steps of {:?} s", self.settings.time_step);
            return Err(Error::value("duration", format!("{duration:?} s"), wanted));
        }
        self.run_frame(|simulation, report| simulation.advance_frame(duration, report))
    }

    /// Simulates exactly one step of `duration` seconds.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn step(&mut self, duration: f64) -> Result<Report> {
        check_duration("h", duration)?;
        self.run_frame(|simulation, report| {
            let corrections = simulation.settings.max_iterations;
            let span = StepInterval {
                start_fraction: 0.0,
                end_fraction: 1.0,
                duration,
                fraction_of_max_step: 1.0,
                max_iterations: corrections,
                can_retry_shorter: false,
            };
            simulation.stable_step_size = f64::INFINITY;
            let candidate = simulation.solve_step(span, report);
            simulation.check_finite(candidate.first_invalid_vertex())?;
            simulation.accept_step(candidate, span, report);
            simulation.frame_fraction = 1.0;
            Ok(())
        })
    }

    /// Runs a frame with the threads of the simulation, and closes it.
    fn run_frame(
        &mut self,
        frame: impl FnOnce(&mut Self, &mut Report) -> Result<()> + Send,
    ) -> Result<Report> {
        let start = Instant::now();
        let workers = self.workers.clone();
        self.frame_fraction = 0.0;
        let outcome = workers.run(|| {
            let mut report = Report::default();
            frame(self, &mut report)?;
            let EquationsOfMotion { mesh, gradients, .. } = &self.dynamics;
            report.max_stretch = forces::largest_stretch(mesh, gradients, &self.state.positions);
            Ok(report)
        });
        // What is led stays where the frame has come to: at its end, or where an error ended it.
        self.boundary_conditions.end_frame(self.frame_fraction);
        for obstacle in self.response.collider_motions_mut() {
            obstacle.end_frame(self.frame_fraction);
        }
        let mut report: Report = outcome?;
        report.total_seconds = start.elapsed().as_secs_f64();
        Ok(report)
    }

    fn advance_frame(&mut self, duration: f64, report: &mut Report) -> Result<()> {
        let (mut done, mut spent) = (0.0, 0.0);
        let mut renewal = 0;
        let mut squeeze = TruncationTolerance::default();
        while done < 1.0 {
            if report.steps >= renewal {
                self.stable_step_size = self.find_stable_step_size()?;
                renewal = report.steps + STABLE_FOR;
            }
            let remaining = duration * (1.0 - done);
            let stages = MOST_STAGES * (duration / self.max_step_size()).max(1.0);
            let is_spent = spent >= stages * self.max_stage_iterations();
            let longest = if is_spent {
                (HURRIED.0 * self.dense_pair_cost_factor()).min(1.0) * self.max_step_size()
            } else {
                self.preferred_step_size.min(self.max_step_size())
            };
            // A little more than the longest step is still one step.
            let count = (remaining / longest - 1.0e-6).ceil().max(1.0);
            let end = if count > 1.0 { done + (1.0 - done) / count } else { 1.0 };
            let corrections = if is_spent { HURRIED.1 } else { self.settings.max_iterations };
            let whole = duration.min(self.max_step_size());
            let length = remaining / count;
            let can_shorten = !is_spent && 0.5 * length >= SHORTEST_STEP * whole;
            let part = length / whole;
            let span = StepInterval {
                start_fraction: done,
                end_fraction: end,
                duration: length,
                fraction_of_max_step: part,
                max_iterations: corrections,
                can_retry_shorter: can_shorten,
            };
            let before = report.newton_iterations;
            let candidate = self.solve_step(span, report);
            let corrections = report.newton_iterations - before;
            spent += (corrections * self.iteration_cost()) as f64 * self.dense_pair_cost_factor();
            let acceptance = self.acceptance(&candidate, span, &mut squeeze);
            if let Err(reason) = acceptance
                && can_shorten
            {
                self.reject(candidate, reason, span, report);
                continue;
            }
            let candidate = candidate.judged(acceptance);
            let candidate = self.or_restart_from_rest(candidate, span, report)?;
            self.accept_step(candidate, span, report);
            self.adapt_step_size(corrections as f64, span);
            done = end;
            self.frame_fraction = end;
        }
        Ok(())
    }

    /// The candidate, or where its equations were beyond the range of numbers, a step from rest where the cloth is now: what
    /// was thrown that fast would fly on for ever.
    fn or_restart_from_rest(
        &mut self,
        candidate: TrialStep,
        span: StepInterval,
        report: &mut Report,
    ) -> Result<TrialStep> {
        self.check_finite(candidate.first_nonfinite_vertex())?;
        if candidate.outcome.step_length.is_finite() {
            return Ok(candidate);
        }
        self.discard_step(candidate);
        let before = self.state.clone();
        self.state.bring_to_rest();
        let resting = self.solve_step(StepInterval { can_retry_shorter: false, ..span }, report);
        // What is lost even at rest never had numbers.
        self.check_finite(resting.first_invalid_vertex()).inspect_err(|_| self.state = before)?;
        Ok(resting)
    }

    /// Whether the equations are linearised once a step.
    fn is_linearised(&self) -> bool {
        self.settings.solver == Solver::Linearised && self.settings.integrator.is_implicit()
    }

    /// Iterations that the solver is allowed for a stage.
    fn max_stage_iterations(&self) -> f64 {
        let corrections = self.settings.max_iterations as f64;
        match self.settings.solver {
            Solver::FixedPoint => crate::newton::UPDATES as f64 * corrections,
            _ => corrections,
        }
    }

    /// What an iteration counts as. Where nothing touches Newton's method always comes to the end with steps that are
    /// short enough; the fixed-point solver may not, and where anything touches its updates cost as much as corrections.
    fn iteration_cost(&self) -> usize {
        let touches = !self.response.contacts().is_empty();
        match (self.settings.solver, touches) {
            (Solver::FixedPoint, true) => crate::newton::UPDATES,
            (Solver::FixedPoint, false) | (_, true) => 1,
            (_, false) => 0,
        }
    }

    /// As how many a correction counts for all the pairs that are near, let go or not.
    fn dense_pair_cost_factor(&self) -> f64 {
        let usual = CROWDED * self.dynamics.vertex_count() as f64;
        (self.response.near_pair_count() as f64 / usual).max(1.0)
    }

    /// The longest time between two looks at contacts, in s.
    fn max_step_size(&self) -> f64 {
        let time_step = self.settings.time_step;
        if self.stable_step_size.is_finite() {
            time_step.min(self.stable_step_size.max(CONTACT_INTERVAL))
        } else {
            time_step
        }
    }

    /// The longest step that the integrator is stable with, in s.
    fn find_stable_step_size(&mut self) -> Result<f64> {
        let Some(scheme) = crate::time_integration::explicit_scheme(self.settings.integrator)
        else {
            return Ok(f64::INFINITY);
        };
        let seconds = STABLE_FOR as f64 * self.max_step_size();
        let positions = self.state.positions.as_slice();
        let held = self.boundary_conditions.pinned(positions.len());
        self.dynamics.spring_targets =
            self.boundary_conditions.spring_targets(positions.len(), self.frame_fraction);
        let parts = (&mut self.dynamics, self.newton.tangent_without_contacts());
        let longest = crate::system::max_stable_step(scheme, parts, (positions, &held), seconds);
        if longest < SHORTEST_STABLE_STEP {
            let found = format!(
                "{} needs steps of {longest:.1e} s for this cloth, {:.0} a film frame",
                self.settings.integrator.name(),
                1.0 / (24.0 * longest)
            );
            let wanted = "a softer or coarser cloth, another damping, or an implicit integrator";
            return Err(Error::value("integrator", found, wanted));
        }
        Ok(longest)
    }

    /// Lengthens or shortens the next step by how hard this one was (Etzmuss 2002, section 3.4.3).
    fn adapt_step_size(&mut self, iterations: f64, span: StepInterval) {
        let allowed = self.max_stage_iterations();
        let (duration, longest) = (span.duration, span.duration / span.fraction_of_max_step);
        let is_long = |duration: f64| duration > (LONG.0 + 1.0e-6) * longest;
        let part = |duration: f64| if is_long(duration) { LONG.1 } else { HARD.0 };
        if !self.is_linearised() && iterations > part(duration) * allowed {
            self.preferred_step_size = (HARD.1 * duration).max(SHORTEST_STEP * longest);
            return;
        }
        let farthest = LONGEST_SLIDE * self.mean_edge_length;
        let speed = self.response.mean_slip_speed();
        let slides = |duration: f64| is_long(duration) && speed * duration > farthest;
        if slides(duration) {
            self.preferred_step_size = LONG.0 * longest;
            return;
        }
        // A step that is squeezed takes many, however short it is: only a longer one tells whether that goes as well.
        let is_shorter = self.preferred_step_size < self.settings.time_step;
        let longer = (LENGTHENING * self.preferred_step_size).min(self.settings.time_step);
        let is_easy = self.is_linearised() || iterations <= 0.5 * part(longer) * allowed;
        let is_ripe = !is_shorter || (is_easy || !is_long(longer)) && !slides(longer);
        if is_ripe && self.step_control.record_success(is_shorter) {
            self.preferred_step_size = longer;
        }
    }

    fn check_finite(&self, vertex: Option<usize>) -> Result<()> {
        vertex.map_or(Ok(()), |vertex| {
            let (cloth, vertex) = self.dynamics.mesh.cloth_of_vertex(vertex);
            Err(Error::NotFinite { cloth, vertex, time: self.state.time })
        })
    }
}

fn surface(material: &Material) -> SurfaceProperties {
    SurfaceProperties { friction: material.friction, thickness: material.thickness }
}
