// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accessors: the state of a simulation, and its boundary conditions, colliders, materials and external forces.

use super::{Simulation, preconditioning, surface};
use crate::{
    error::{Error, Result},
    forces::{PressureLaw, enclosed_volume},
    linear_solver::{BlockMatrix, Ordering},
    material::Material,
    mesh::check_positions,
    newton::Newton,
    scene::{Springs, check_duration, check_vector},
    surface::SurfaceProperties,
    system::{Energy, LinearisedMatrices, model_factory},
    time_integration::Stage,
    vec3::Vec3,
};

impl Simulation {
    /// Simulated time, in s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Number of cloths.
    #[must_use]
    pub fn cloth_count(&self) -> usize {
        self.dynamics.materials.len()
    }

    /// Number of colliders.
    #[must_use]
    pub fn collider_count(&self) -> usize {
        self.response.scene.collider_motions.len()
    }

    /// Positions of a cloth's vertices, in m.
    ///
    /// # Errors
    /// A cloth index out of range.
    pub fn positions(&self, cloth: usize) -> Result<&[Vec3]> {
        self.check_cloth(cloth)?;
        Ok(&self.state.positions[self.dynamics.mesh.vertices_of(cloth)])
    }

    /// Velocities of a cloth's vertices, in m/s.
    ///
    /// # Errors
    /// A cloth index out of range.
    pub fn velocities(&self, cloth: usize) -> Result<&[Vec3]> {
        self.check_cloth(cloth)?;
        Ok(&self.state.velocities[self.dynamics.mesh.vertices_of(cloth)])
    }

    /// Gravity, in m/s².
    #[must_use]
    pub fn gravity(&self) -> Vec3 {
        self.dynamics.gravity
    }

    /// Sewn pairs of vertices, numbered through all cloths.
    pub(crate) fn seam_pairs(&self) -> &[[u32; 2]] {
        &self.dynamics.seams
    }

    /// Whether seams are within their closing time.
    pub(crate) fn has_closing_seams(&self) -> bool {
        self.dynamics.has_time_dependent_stiffness()
    }

    /// Distance of both vertices of each sewn pair, in m, in the order of [`Self::seam_pairs`].
    pub(crate) fn seam_gaps(&self) -> Vec<f64> {
        let positions = &self.state.positions;
        let gap = |[one, other]: &[u32; 2]| {
            (positions[*one as usize] - positions[*other as usize]).norm()
        };
        self.dynamics.seams.iter().map(gap).collect()
    }

    /// Root mean square of the speeds of all vertices, in m/s.
    pub(crate) fn mean_speed(&self) -> f64 {
        let velocities = &self.state.velocities;
        let squares: f64 = velocities.iter().map(Vec3::norm_squared).sum();
        (squares / velocities.len() as f64).sqrt()
    }

    /// Minimum over all cloths of the mean edge length, in m.
    pub(crate) fn mean_edge_length(&self) -> f64 {
        self.mean_edge_length
    }

    /// Index of the cloth of a vertex numbered through all cloths.
    pub(crate) fn cloth_of(&self, vertex: u32) -> usize {
        self.dynamics.mesh.cloth_of_vertex(vertex as usize).0
    }

    /// Energy of all cloths.
    pub fn energy(&mut self) -> Energy {
        self.dynamics.energy(&self.state.positions, &self.state.velocities)
    }

    /// Whether there are seams, and whether there are soft pins.
    #[must_use]
    pub fn has_springs(&self) -> [bool; 2] {
        [!self.dynamics.seams.is_empty(), !self.dynamics.spring_targets.is_empty()]
    }

    /// Pins vertices from now on. They reach `targets` in m along straight lines by the end of the next advance;
    /// without targets they stay where they are, or on the path that was set before.
    ///
    /// # Errors
    /// A cloth or vertex index out of range, or targets that are not finite or not one for each vertex.
    pub fn set_pins(
        &mut self,
        cloth: usize,
        vertices: &[usize],
        targets: Option<&[Vec3]>,
    ) -> Result<()> {
        self.check_pins(cloth, vertices, targets)?;
        let first = self.dynamics.mesh.vertices_of(cloth).start;
        for (index, vertex) in vertices.iter().enumerate() {
            let vertex = first + vertex;
            let position = self.state.positions[vertex];
            let target = targets.map(|targets| targets[index]);
            let end = target
                .or_else(|| self.boundary_conditions.kinematic_end(vertex))
                .unwrap_or(position);
            self.boundary_conditions.set_kinematic(vertex, position, end);
        }
        self.update_pinned_vertices();
        Ok(())
    }

    /// Attaches vertices to spring targets from now on, with a stiffness in N/m for each. The targets reach `targets`
    /// in m along straight lines by the end of the next advance; without `targets` they stay where they are, which is
    /// at first where the vertices are.
    ///
    /// # Errors
    /// As [`Self::set_pins`]; a stiffness that is not a finite number above 0.
    pub fn set_soft_pins(
        &mut self,
        cloth: usize,
        vertices: &[usize],
        targets: Option<&[Vec3]>,
        stiffness: &[f64],
    ) -> Result<()> {
        check_count("stiffness", stiffness.len(), vertices.len())?;
        for (index, stiffness) in stiffness.iter().enumerate() {
            if !(stiffness.is_finite() && *stiffness > 0.0) {
                let wanted = "a finite number more than 0";
                return Err(Error::element("stiffness", "entry", index, *stiffness, wanted));
            }
        }
        self.check_pins(cloth, vertices, targets)?;
        let first = self.dynamics.mesh.vertices_of(cloth).start;
        let start = |vertex: usize| {
            self.boundary_conditions.path_end(vertex).unwrap_or(self.state.positions[vertex])
        };
        let starts: Vec<Vec3> = vertices.iter().map(|vertex| start(first + vertex)).collect();
        for (index, vertex) in vertices.iter().enumerate() {
            let end = targets.map_or(starts[index], |targets| targets[index]);
            self.boundary_conditions.set_spring_target(
                first + vertex,
                starts[index],
                end,
                stiffness[index],
            );
        }
        self.update_pinned_vertices();
        Ok(())
    }

    /// Releases vertices; `None` releases all of the cloth.
    ///
    /// # Errors
    /// A cloth or vertex index out of range.
    pub fn release_pins(&mut self, cloth: usize, vertices: Option<&[usize]>) -> Result<()> {
        self.check_cloth(cloth)?;
        let range = self.dynamics.mesh.vertices_of(cloth);
        match vertices {
            Some(vertices) => {
                self.check_vertices(cloth, vertices)?;
                for vertex in vertices {
                    self.boundary_conditions.release(range.start + vertex);
                }
            }
            None => {
                for vertex in range {
                    self.boundary_conditions.release(vertex);
                }
            }
        }
        self.update_pinned_vertices();
        Ok(())
    }

    /// Prescribes the velocity of vertices in m/s along one, two or three directions from now on. Along others they are
    /// free.
    ///
    /// # Errors
    /// A cloth or vertex index out of range, directions that are not finite or not independent, or a velocity that is
    /// not finite.
    pub fn set_guided_velocity(
        &mut self,
        cloth: usize,
        vertices: &[usize],
        directions: &[Vec3],
        velocity: Vec3,
    ) -> Result<()> {
        self.check_vertices(cloth, vertices)?;
        check_vector("velocity", &velocity)?;
        let directions = independent_directions(directions)?;
        let first = self.dynamics.mesh.vertices_of(cloth).start;
        for vertex in vertices {
            self.boundary_conditions.set_prescribed_velocity(
                first + vertex,
                directions.clone(),
                velocity,
            );
        }
        self.update_pinned_vertices();
        Ok(())
    }

    /// Sets the positions in m that the vertices of a collider reach along straight lines by the end of the next
    /// advance.
    ///
    /// # Errors
    /// A collider index out of range, another number of vertices, or positions that are not finite.
    pub fn set_collider(&mut self, collider: usize, positions: Vec<Vec3>) -> Result<()> {
        let count = self.collider_count();
        let Some(motion) = self.response.scene.collider_motions.get_mut(collider) else {
            let wanted = format!("an index below the {count} colliders");
            return Err(Error::value("collider", collider, wanted));
        };
        check_count("positions", positions.len(), motion.vertex_count())?;
        check_positions("positions", &positions)?;
        motion.set_target(positions);
        Ok(())
    }

    /// Sets the material of a cloth from now on.
    ///
    /// # Errors
    /// A cloth index out of range, an invalid material, or one that the model cannot simulate.
    pub fn set_material(&mut self, cloth: usize, material: Material) -> Result<()> {
        self.check_cloth(cloth)?;
        let material = material.checked()?;
        model_factory::check_material(&self.settings, "material", &material)?;
        let vertices = self.dynamics.mesh.vertices_of(cloth);
        self.response.scene.mesh.set_surface_properties(vertices, &surface(&material));
        self.dynamics.set_material(cloth, material);
        self.dynamics.initialize_internal_variables(&self.state.positions);
        Ok(())
    }

    /// Sets the springs of a cloth from now on, in place of all that it had.
    ///
    /// # Errors
    /// A cloth index out of range, or springs that are not valid (see [`Springs::checked`]).
    pub fn set_springs(&mut self, cloth: usize, springs: Option<Springs>) -> Result<()> {
        self.check_cloth(cloth)?;
        let count = self.dynamics.mesh.vertices_of(cloth).len();
        let springs = springs.map(|springs| springs.checked(count)).transpose()?;
        let mut all = self.dynamics.springs.clone();
        all[cloth] = springs.filter(|springs| !springs.pairs.is_empty());
        self.replace_springs(all);
        Ok(())
    }

    /// Replaces the springs of all cloths, and with them the pattern of the matrix.
    pub(super) fn replace_springs(&mut self, all: Vec<Option<Springs>>) {
        if all == self.dynamics.springs {
            return;
        }
        self.state.previous = None;
        self.dynamics.set_springs(all);
        let Self { dynamics, settings, threads, .. } = self;
        self.newton = threads.run(|| Newton::new(dynamics, preconditioning(settings)));
    }

    /// Sets whether the strips between both sides of closing seams are surfaces.
    pub(crate) fn set_guards_seams(&mut self, guards_seams: bool) {
        self.response.scene.set_guards_seams(guards_seams);
    }

    /// Sets whether cloth rubs on anything, until the material of the cloth is set or a checkpoint restored.
    pub(crate) fn set_has_friction(&mut self, has_friction: bool) {
        for (cloth, material) in self.dynamics.materials.iter().enumerate() {
            let own = surface(material);
            let friction = if has_friction { own.friction } else { 0.0 };
            let vertices = self.dynamics.mesh.vertices_of(cloth);
            let mesh = &mut self.response.scene.mesh;
            mesh.set_surface_properties(vertices, &SurfaceProperties { friction, ..own });
        }
    }

    /// Sets gravity, in m/s².
    ///
    /// # Errors
    /// A component that is not finite.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<()> {
        check_vector("g", &gravity)?;
        if gravity != self.dynamics.gravity {
            self.state.previous = None;
        }
        self.dynamics.gravity = gravity;
        Ok(())
    }

    /// Sets the velocity of the air, in m/s.
    ///
    /// # Errors
    /// A component that is not finite.
    pub fn set_wind(&mut self, wind: Vec3) -> Result<()> {
        check_vector("w", &wind)?;
        self.dynamics.air.set_wind(wind);
        Ok(())
    }

    /// Sets the external forces on the vertices of a cloth in N, until changed.
    ///
    /// # Errors
    /// A cloth index out of range, or forces that are not finite or not one for each vertex.
    pub fn set_vertex_forces(&mut self, cloth: usize, forces: &[Vec3]) -> Result<()> {
        self.check_cloth(cloth)?;
        let vertices = self.dynamics.mesh.vertices_of(cloth);
        check_count("forces", forces.len(), vertices.len())?;
        check_positions("forces", forces)?;
        let count = self.dynamics.vertex_count();
        self.dynamics.vertex_forces.resize(count, Vec3::zeros());
        let present = &mut self.dynamics.vertex_forces[vertices];
        if present != forces {
            self.state.previous = None;
        }
        present.copy_from_slice(forces);
        Ok(())
    }

    /// Sets the pressure inside a cloth above that outside, until changed; `None` for the same. A target volume of 0 is
    /// that at the start.
    ///
    /// # Errors
    /// A cloth index out of range, a number that is not finite, a negative stiffness or volume, weights that are not
    /// one for each vertex, or a stiffness without a volume to keep.
    pub fn set_pressure(&mut self, cloth: usize, law: Option<PressureLaw>) -> Result<()> {
        self.check_cloth(cloth)?;
        let law = law.map(|law| self.checked_pressure(cloth, law)).transpose()?;
        let present = self.dynamics.pressures.law(cloth);
        let is_other_surface =
            |law: &PressureLaw| present.is_none_or(|one| one.weights != law.weights);
        if law.as_ref().map_or(present.is_some(), is_other_surface) {
            self.state.previous = None;
        }
        self.dynamics.pressures.set(&self.dynamics.mesh, cloth, law);
        Ok(())
    }

    /// Pressure inside a cloth above that outside.
    #[must_use]
    pub fn pressure(&self, cloth: usize) -> Option<&PressureLaw> {
        self.dynamics.pressures.law(cloth)
    }

    /// Volume that a cloth encloses in m³, positive if its faces turn around outward normals.
    ///
    /// # Errors
    /// A cloth index out of range.
    pub fn volume(&self, cloth: usize) -> Result<f64> {
        self.check_cloth(cloth)?;
        Ok(enclosed_volume(&self.dynamics.mesh, cloth, &self.state.positions))
    }

    fn checked_pressure(&self, cloth: usize, mut law: PressureLaw) -> Result<PressureLaw> {
        check_number("pressure", law.pressure, f64::NEG_INFINITY)?;
        check_number("stiffness", law.stiffness, 0.0)?;
        check_number("volume", law.volume, 0.0)?;
        check_number("fluid_density", law.fluid_density, f64::NEG_INFINITY)?;
        if !law.weights.is_empty() {
            check_count("weights", law.weights.len(), self.dynamics.mesh.vertices_of(cloth).len())?;
        }
        let is_refused = |weight: &f64| !weight.is_finite() || *weight < 0.0;
        if let Some(index) = law.weights.iter().position(is_refused) {
            let (found, wanted) = (law.weights[index], "a finite number, 0 or more");
            return Err(Error::element("weights", "vertex", index, found, wanted));
        }
        if law.volume == 0.0 {
            law.volume = self.dynamics.pressures.initial_volume(cloth);
        }
        if law.stiffness > 0.0 && law.volume <= 0.0 {
            let wanted = "a cloth that encloses more than 0, or a volume";
            return Err(Error::value("volume", format!("{} m³", law.volume), wanted));
        }
        Ok(law)
    }

    /// Assembles the tangent matrix at the positions where forces were last evaluated, without contacts, with the
    /// inertia of implicit Euler steps of `duration` in s. [`Self::ordering`] is the order of its rows. Runs on the
    /// threads of the caller.
    pub fn assemble(&mut self, duration: f64) -> &BlockMatrix {
        let stage = Stage { beta: duration, ..Stage::STATIC };
        let tangent = self.newton.tangent_without_contacts();
        tangent.assemble(&mut self.dynamics, &stage);
        &tangent.matrix
    }

    /// Sparse matrices of the equations of motion at the present positions, and A of an implicit Euler step of
    /// `duration` in s; of `Settings::time_step` where there is none.
    ///
    /// # Errors
    /// A duration that is not a finite number above 0.
    pub fn matrices(&mut self, duration: Option<f64>) -> Result<LinearisedMatrices> {
        let duration = duration.unwrap_or(self.settings.time_step);
        check_duration("h", duration)?;
        let Self { threads, dynamics, newton, state, .. } = self;
        Ok(threads.run(|| {
            let tangent = newton.tangent_without_contacts();
            LinearisedMatrices::new(dynamics, tangent, &state.positions, duration)
        }))
    }

    /// Order of the vertices in the rows of the tangent matrix.
    #[must_use]
    pub fn ordering(&self) -> &Ordering {
        self.newton.ordering()
    }

    pub(crate) fn update_pinned_vertices(&mut self) {
        let pinned = self.boundary_conditions.pinned(self.state.positions.len());
        self.dynamics.set_pinned(&pinned);
        self.dynamics.spring_targets = self.boundary_conditions.spring_targets(pinned.len(), 0.0);
    }

    fn check_cloth(&self, cloth: usize) -> Result<()> {
        if cloth < self.cloth_count() {
            return Ok(());
        }
        let wanted = format!("an index below the {} cloths", self.cloth_count());
        Err(Error::value("cloth", cloth, wanted))
    }

    fn check_pins(&self, cloth: usize, vertices: &[usize], targets: Option<&[Vec3]>) -> Result<()> {
        self.check_vertices(cloth, vertices)?;
        let Some(targets) = targets else { return Ok(()) };
        check_count("targets", targets.len(), vertices.len())?;
        if targets.is_empty() { Ok(()) } else { check_positions("targets", targets) }
    }

    fn check_vertices(&self, cloth: usize, vertices: &[usize]) -> Result<()> {
        self.check_cloth(cloth)?;
        let count = self.dynamics.mesh.vertices_of(cloth).len();
        match vertices.iter().position(|vertex| *vertex >= count) {
            Some(index) => {
                let found = format!("vertex {}", vertices[index]);
                let wanted = format!("an index below the {count} vertices");
                Err(Error::element("vertices", "entry", index, found, wanted))
            }
            None => Ok(()),
        }
    }
}

fn check_number(argument: &str, found: f64, lowest: f64) -> Result<()> {
    if found.is_finite() && found >= lowest {
        return Ok(());
    }
    let wanted = if lowest == 0.0 { "a finite number, 0 or more" } else { "a finite number" };
    Err(Error::value(argument, found.to_string(), wanted))
}

fn check_count(argument: &str, found: usize, wanted: usize) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::value(argument, format!("{found} rows"), format!("{wanted}")))
}

/// One to three unit directions, none of them (nearly) a linear combination of the others.
fn independent_directions(directions: &[Vec3]) -> Result<Vec<Vec3>> {
    if directions.is_empty() || directions.len() > 3 {
        let found = format!("{} directions", directions.len());
        return Err(Error::value("directions", found, "one, two or three"));
    }
    let mut units: Vec<Vec3> = Vec::new();
    for (index, direction) in directions.iter().enumerate() {
        let spanned =
            crate::geometry::OrthonormalBasis::new(units.iter().copied()).complement_projector();
        let is_new = |unit: &Vec3| (spanned * unit).norm() > 0.1;
        // A direction that is not finite has no unit, or one that is not new.
        let Some(unit) = direction.try_normalize(f64::MIN_POSITIVE).filter(is_new) else {
            let found = format!("({}, {}, {})", direction.x, direction.y, direction.z);
            let wanted = "a finite direction, independent of those before";
            return Err(Error::element("directions", "direction", index, found, wanted));
        };
        units.push(unit);
    }
    Ok(units)
}
