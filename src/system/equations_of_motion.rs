// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equations of motion of all cloths: masses, forces, and the potential of a stage.
//!
//! A stage of any scheme is solved by the stationary point of
//! Φ(x) = Σ m/(2β²)‖x − y‖² + W(x) + viscous potentials − Σ ⟨f, x⟩, with y = x̂ + βv̂ (see `time_integration::stage`).

use super::{boundary_conditions::SpringTarget, model_factory, point_damping::PointDamping};
use crate::{
    forces::{
        Air, ElasticEnergy, Elements, ModelInput, PressureLoads, Springs, StrainHistory,
        scaled_gradients, sewing,
    },
    material::Material,
    mesh::{Mesh, ShapeGradients},
    parallel::{BufferPool, reductions},
    scene::{Cloth, Report, Settings, Task},
    time_integration::{Measures, Stage},
    vec3::Vec3,
};
use std::{ops::Range, sync::Arc};

/// Equations of motion of all cloths.
pub(crate) struct EquationsOfMotion {
    pub(crate) mesh: Arc<Mesh>,
    pub(crate) materials: Vec<Material>,
    /// Elements of the cloth model and of seams, by kind.
    pub(crate) elements: Vec<Box<dyn Elements>>,
    pub(crate) air: Air,
    pub(crate) pressures: PressureLoads,
    pub(crate) point_damping: PointDamping,
    /// Gravity, in m/s².
    pub(crate) gravity: Vec3,
    /// Mass of each vertex, in kg.
    pub(crate) masses: Vec<f64>,
    /// Mass of all vertices, in kg.
    pub(crate) total_mass: f64,
    /// Mass of each cloth, in kg.
    pub(crate) cloth_masses: Vec<f64>,
    /// External forces on the vertices, in N; empty if none have been set.
    pub(crate) vertex_forces: Vec<Vec3>,
    /// Factors on the lengths at rest along warp and weft, for each vertex; empty if all are 1.
    pub(crate) rest_scale: Vec<[f64; 2]>,
    /// Gradients of the shape functions of all triangles with respect to the scaled lengths, in 1/m.
    pub(crate) gradients: Arc<Vec<ShapeGradients>>,
    /// Spring target of each vertex; empty if there are none.
    pub(crate) spring_targets: Vec<Option<SpringTarget>>,
    /// Pairs of vertices that are sewn together.
    pub(crate) seams: Vec<[u32; 2]>,
    /// Springs of each cloth; their elements are the last ones.
    pub(crate) springs: Vec<Option<Springs>>,
    /// Number of changes of the stiffness: of materials, and of seams while they close.
    pub(crate) stiffness_revision: u64,
    /// Lumped area of each vertex, in m².
    vertex_areas: Arc<Vec<f64>>,
    /// Factors on the masses of vertices; empty if all are 1.
    mass_scales: Vec<f64>,
    /// Measures of the present and of the previous state, where they have been computed.
    cached_measures: [Option<Measures>; 2],
    buffers: BufferPool<Measures>,
}

/// Energies in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Energy of the strain along the yarns.
    pub stretch: f64,
    /// Energy of shear.
    pub shear: f64,
    /// Energy of bending.
    pub bend: f64,
    /// Energy of seams.
    pub sewing: f64,
    /// Energy of soft pins.
    pub pins: f64,
    /// Gravitational energy, 0 at the origin.
    pub gravity: f64,
}

impl Energy {
    /// Sum of all energies.
    #[must_use]
    pub fn total(&self) -> f64 {
        let elastic = self.stretch + self.shear + self.bend + self.sewing + self.pins;
        self.kinetic + elastic + self.gravity
    }
}

impl EquationsOfMotion {
    pub(crate) fn new(cloths: &[Cloth], settings: &Settings) -> Self {
        let mesh = model_factory::joined_mesh(cloths);
        let materials: Vec<Material> = cloths.iter().map(|cloth| cloth.material.clone()).collect();
        let count = mesh.vertex_count();
        let rest_scale =
            model_factory::concatenated(cloths, [1.0; 2], |cloth| cloth.rest_scale.as_ref());
        let stiffness_scale =
            model_factory::concatenated(cloths, 1.0, |cloth| cloth.stiffness_scale.as_ref());
        let property_scale =
            model_factory::concatenated(cloths, [1.0; 3], |cloth| cloth.property_scale.as_ref());
        let mass_scales =
            model_factory::concatenated(cloths, 1.0, |cloth| cloth.mass_scale.as_ref());
        let point_damping = PointDamping::from(settings);
        let damped: Vec<_> = materials.iter().map(|one| point_damping.damped(one)).collect();
        let sheets = ModelInput {
            mesh: &mesh,
            materials: &damped,
            rest_scale: &rest_scale,
            stiffness_scale: &stiffness_scale,
            property_scale: &property_scale,
        };
        let (mut elements, vertex_areas) = model_factory::build(settings.model, &sheets);
        elements.extend(sewing(cloths.iter().map(|cloth| cloth.sewing.as_ref()), &sheets));
        let mut air = Air::new(&mesh, &materials, settings.air_density, settings.wind);
        if let Some(buffers) = elements.iter().find_map(|elements| elements.buffers()) {
            air.set_buffers(buffers.clone());
        }
        let positions: Vec<Vec3> =
            cloths.iter().flat_map(|cloth| &cloth.positions).copied().collect();
        let mut dynamics = Self {
            elements,
            air,
            pressures: PressureLoads::new(&mesh, &positions),
            point_damping,
            gravity: settings.gravity,
            masses: vec![0.0; count],
            total_mass: 0.0,
            cloth_masses: vec![0.0; cloths.len()],
            vertex_forces: Vec::new(),
            gradients: scaled_gradients(&mesh, &rest_scale),
            rest_scale,
            spring_targets: Vec::new(),
            seams: model_factory::seam_pairs(cloths, &mesh.cloth_starts),
            springs: Vec::new(),
            stiffness_revision: 0,
            vertex_areas,
            mass_scales,
            cached_measures: [None, None],
            buffers: BufferPool::new(1),
            materials,
            mesh,
        };
        dynamics.set_springs(cloths.iter().map(|cloth| cloth.springs.clone()).collect());
        dynamics.update_masses(0..cloths.len());
        dynamics
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.masses.len()
    }

    /// Computes the masses of the vertices of some cloths, and the sums.
    fn update_masses(&mut self, cloths: Range<usize>) {
        for cloth in cloths {
            let density = self.materials[cloth].density;
            for vertex in self.mesh.vertices_of(cloth) {
                let scale = self.mass_scales.get(vertex).unwrap_or(&1.0);
                self.masses[vertex] = density * self.vertex_areas[vertex] * scale;
            }
            self.cloth_masses[cloth] = self.masses[self.mesh.vertices_of(cloth)].iter().sum();
        }
        self.total_mass = self.masses.iter().sum();
    }

    /// Discards cached measures, after a change of what they depend on.
    pub(crate) fn invalidate_measures(&mut self) {
        self.cached_measures = [None, None];
    }

    pub(crate) fn set_material(&mut self, cloth: usize, material: Material) {
        self.invalidate_measures();
        let damped = self.point_damping.damped(&material);
        for elements in &mut self.elements {
            elements.set_material(&self.mesh, cloth, &damped);
        }
        self.air.set_material(cloth, &material);
        self.materials[cloth] = material;
        self.update_masses(cloth..cloth + 1);
        self.stiffness_revision += 1;
    }

    /// Φ in J at positions at the end of a stage, and −∇Φ in N as `residuals`. Where the equations hold before the end,
    /// their potential is multiplied by the extrapolation factor, so that the gradient equals the forces there.
    pub(crate) fn evaluate(
        &mut self,
        stage: &Stage,
        positions: &[Vec3],
        residuals: &mut [Vec3],
        report: &mut Report,
    ) -> f64 {
        if stage.extrapolation_factor > 1.0 {
            let pairs = positions.iter().enumerate();
            let points: Vec<Vec3> =
                pairs.map(|(vertex, x)| stage.evaluation_point(vertex, x)).collect();
            return stage.extrapolation_factor
                * self.evaluate_at(stage, &points, residuals, report);
        }
        self.evaluate_at(stage, positions, residuals, report)
    }

    /// Φ in J and −∇Φ in N at the positions where the equations hold.
    fn evaluate_at(
        &mut self,
        stage: &Stage,
        positions: &[Vec3],
        residuals: &mut [Vec3],
        report: &mut Report,
    ) -> f64 {
        report.time(Task::Forces, || {
            let inverse_beta = 1.0 / stage.beta;
            residuals.fill(Vec3::zeros());
            let mut internal = 0.0;
            for (elements, reference) in self.elements.iter_mut().zip(&stage.base_measures) {
                elements.begin_stage(stage.duration / stage.extrapolation_factor);
                let history = StrainHistory { reference: reference.as_slice(), inverse_beta };
                internal += elements.evaluate(positions, history, residuals);
            }
            internal += self.pressures.evaluate(positions, residuals);
            internal + self.add_point_forces(stage, positions, residuals)
        })
    }

    /// Measures of the present state, whose positions these are.
    pub(crate) fn current_measures(&mut self, positions: &[Vec3]) -> Measures {
        if let Some(measures) = &self.cached_measures[0] {
            return measures.clone();
        }
        let buffer = self.buffers.take();
        let measures = self.measure_in(buffer, positions);
        self.cached_measures[0] = Some(measures.clone());
        measures
    }

    /// Measures of the previous state, whose positions these are, taken out of the cache: only a step that is retried
    /// needs them twice.
    pub(crate) fn take_previous_measures(&mut self, positions: &[Vec3]) -> Measures {
        self.cached_measures[1].take().unwrap_or_else(|| self.measure(positions))
    }

    /// Returns measures to the pool of buffers.
    pub(crate) fn reuse(&self, measures: Measures) {
        self.buffers.give(measures);
    }

    /// Makes the cached measures of the present state those of the previous one, after a step.
    pub(crate) fn shift_cached_measures(&mut self) {
        self.cached_measures = [None, self.cached_measures[0].take()];
    }

    /// Measures at `positions`.
    pub(crate) fn measure(&self, positions: &[Vec3]) -> Measures {
        self.measure_in(Measures::new(), positions)
    }

    /// Measures at `positions`, in the storage of a buffer as far as it is not shared.
    fn measure_in(&self, mut buffer: Measures, positions: &[Vec3]) -> Measures {
        buffer.resize_with(self.elements.len(), Arc::default);
        for (elements, measures) in self.elements.iter().zip(&mut buffer) {
            if Arc::get_mut(measures).is_none() {
                *measures = Arc::default();
            }
            let own: &mut Vec<f64> = Arc::make_mut(measures);
            own.resize(elements.measure_count(), 0.0);
            elements.measure(positions, own);
        }
        buffer
    }

    /// Extrapolated measures `first`·(1 + `weight`) − `second`·`weight`.
    pub(crate) fn extrapolate_measures(
        &self,
        first: &Measures,
        mut second: Measures,
        weight: f64,
    ) -> Measures {
        for (elements, (first, second)) in self.elements.iter().zip(first.iter().zip(&mut second)) {
            let before: &mut Vec<f64> = Arc::make_mut(second);
            elements.extrapolate_all(first, before, weight);
        }
        second
    }

    /// Predicts stresses along a displacement of the end of a stage, in m, see [`Elements::predict_stress`].
    pub(crate) fn predict_stress(&mut self, stage: &Stage, displacement: &[Vec3]) {
        let scaled: Vec<Vec3>;
        let displacement = if stage.extrapolation_factor > 1.0 {
            scaled = displacement.iter().map(|d| d / stage.extrapolation_factor).collect();
            &scaled
        } else {
            displacement
        };
        for elements in &mut self.elements {
            elements.predict_stress(displacement);
        }
    }

    /// Makes the next tangent use predicted stresses, see [`Elements::use_predicted_stress`].
    pub(crate) fn use_predicted_stress(&mut self) {
        for elements in &mut self.elements {
            elements.use_predicted_stress();
        }
    }

    /// Sets the flags of pinned vertices from now on.
    pub(crate) fn set_pinned(&mut self, pinned: &[bool]) {
        self.invalidate_measures();
        for elements in &mut self.elements {
            elements.set_pinned(&self.mesh, pinned);
        }
    }

    /// Initializes the internal variables for positions that have been held for a long time.
    pub(crate) fn initialize_internal_variables(&mut self, positions: &[Vec3]) {
        for elements in &mut self.elements {
            elements.start_history(positions);
        }
    }

    /// Updates the internal variables after a step of `duration` in s that ended at `positions`.
    pub(crate) fn update_internal_variables(&mut self, positions: &[Vec3], duration: f64) {
        self.stiffness_revision += u64::from(self.has_time_dependent_stiffness());
        for elements in &mut self.elements {
            elements.end_step(positions, duration);
        }
    }

    /// Whether the stiffness of any element changes with time.
    pub(crate) fn has_time_dependent_stiffness(&self) -> bool {
        self.elements.iter().any(|elements| elements.is_time_dependent())
    }

    /// Internal variables of the elements, by kind; empty for elements without history.
    pub(crate) fn internal_variables(&self) -> Vec<Vec<f64>> {
        let kinds = self.elements.iter().take(self.fabric_kind_count());
        kinds.map(|elements| elements.internal_variables()).collect()
    }

    /// Sets the internal variables.
    pub(crate) fn set_internal_variables(&mut self, memories: &[Vec<f64>]) {
        for (elements, memory) in self.elements.iter_mut().zip(memories) {
            elements.set_internal_variables(&self.mesh, memory);
        }
    }

    /// Resets the internal variables, so that a sudden change meets the full stiffness. Returns their former values.
    pub(crate) fn reset_internal_variables(&mut self) -> Vec<Vec<f64>> {
        let memories = self.internal_variables();
        for elements in &mut self.elements {
            elements.clear_internal_variables();
            elements.begin_stage(0.0);
        }
        memories
    }

    /// Calls `work` with the tangents of the highest stiffness within the next `seconds`. Materials are unchanged.
    pub(crate) fn with_stiffest_tangents<T>(
        &mut self,
        seconds: f64,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        for elements in &mut self.elements {
            elements.begin_stage(seconds);
            elements.set_stiffest_tangent(true);
        }
        let result = work(self);
        for elements in &mut self.elements {
            elements.set_stiffest_tangent(false);
        }
        result
    }

    /// Whether the lists have the lengths of the internal variables of the elements.
    pub(crate) fn internal_variables_fit(&self, memories: &[Vec<f64>]) -> bool {
        let pairs = self.elements.iter().zip(memories);
        memories.len() == self.fabric_kind_count()
            && pairs.into_iter().all(|(elements, memory)| {
                memory.is_empty() || memory.len() == elements.internal_variable_count()
            })
    }

    /// Adds the forces of inertia, gravity, air, spring targets and external forces to the residuals, in N. Returns
    /// their potential in J.
    pub(crate) fn add_point_forces(
        &self,
        stage: &Stage,
        positions: &[Vec3],
        residuals: &mut [Vec3],
    ) -> f64 {
        let (has_air, has_drag) = (self.air.is_active(), self.point_damping.has_drag());
        let mut points = vec![(); residuals.len()];
        reductions::sum_zipped(
            residuals,
            &mut points,
            reductions::MIN_VERTICES_PER_TASK,
            |vertex, residual, ()| {
                let (mass, beta) = (self.masses[vertex], stage.beta);
                let displacement = positions[vertex] - stage.base_positions[vertex];
                let lag = displacement - stage.base_velocities[vertex] * beta;
                let constant = self.gravity * mass + self.vertex_force(vertex);
                *residual += constant - lag * (mass / (beta * beta));
                let mut potential =
                    0.5 * mass / (beta * beta) * lag.norm_squared() - constant.dot(&displacement);
                if has_air {
                    let force = self.air.force(vertex, &(displacement / beta));
                    let air_velocity = displacement / beta - self.air.wind();
                    potential -= 0.5 * beta * air_velocity.dot(&force);
                    *residual += force;
                }
                if has_drag {
                    let (dissipation, force) =
                        self.point_damping.dissipation_and_force(mass, &(displacement / beta));
                    potential += beta * dissipation;
                    *residual += force;
                }
                if let Some(target) = self.spring_target(vertex) {
                    potential += target.energy(&positions[vertex]);
                    *residual += target.force(&positions[vertex]);
                }
                potential
            },
        )
    }

    /// External force on a vertex, in N.
    pub(crate) fn vertex_force(&self, vertex: usize) -> Vec3 {
        self.vertex_forces.get(vertex).copied().unwrap_or_default()
    }

    /// Spring target of a vertex.
    pub(crate) fn spring_target(&self, vertex: usize) -> Option<&SpringTarget> {
        self.spring_targets.get(vertex)?.as_ref()
    }

    /// Predicts the air forces where the equations of a stage hold, for positions in m and velocities in m/s expected
    /// at its end.
    pub(crate) fn predict_stage_air(
        &mut self,
        stage: &Stage,
        positions: &[Vec3],
        velocities: &[Vec3],
    ) {
        if stage.extrapolation_factor > 1.0 {
            let pairs = positions.iter().enumerate();
            let points: Vec<Vec3> =
                pairs.map(|(vertex, x)| stage.evaluation_point(vertex, x)).collect();
            let pairs = velocities.iter().zip(&stage.base_velocities);
            let mean: Vec<Vec3> =
                pairs.map(|(v, from)| from + (v - from) / stage.extrapolation_factor).collect();
            self.predict_air(&points, &mean);
        } else {
            self.predict_air(positions, velocities);
        }
    }

    /// Freezes the normals and relative velocities of the air forces at expected positions in m and velocities in m/s,
    /// and begins the path of pressures there.
    pub(crate) fn predict_air(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        self.pressures.begin_path(positions, &self.gravity);
        if self.air.is_active() {
            self.air.set_predicted_state(positions, velocities);
        }
    }

    /// Whether wind, pressure, external forces or seams do work on the cloth.
    pub(crate) fn has_external_load(&self) -> bool {
        let is_windy = self.air.is_active() && self.air.wind() != Vec3::zeros();
        let is_driven = is_windy || !self.seams.is_empty() || !self.pressures.is_empty();
        is_driven || self.vertex_forces.iter().any(|f| *f != Vec3::zeros())
    }

    /// Kinetic and gravitational energy, in J.
    pub(crate) fn kinetic_and_gravity_energy(
        &self,
        positions: &[Vec3],
        velocities: &[Vec3],
    ) -> [f64; 2] {
        let (masses, block) = (&self.masses, reductions::MIN_LIGHT_VERTICES_PER_TASK);
        let kinetic = |vertex: usize| 0.5 * masses[vertex] * velocities[vertex].norm_squared();
        let gravity = |vertex: usize| -masses[vertex] * self.gravity.dot(&positions[vertex]);
        [
            reductions::sum_blocked(masses.len(), block, kinetic),
            reductions::sum_blocked(masses.len(), block, gravity),
        ]
    }

    /// Energy at these positions in m and velocities in m/s.
    pub(crate) fn energy(&self, positions: &[Vec3], velocities: &[Vec3]) -> Energy {
        let mut elastic = ElasticEnergy::default();
        for elements in &self.elements {
            elastic += elements.energy(positions);
        }
        let ElasticEnergy { stretch, shear, bend, sewing } = elastic;
        let [kinetic, gravity] = self.kinetic_and_gravity_energy(positions, velocities);
        let pins = positions.iter().enumerate().filter_map(|(vertex, position)| {
            self.spring_target(vertex).map(|target| target.energy(position))
        });
        Energy { kinetic, stretch, shear, bend, sewing, gravity, pins: pins.sum() }
    }
}
