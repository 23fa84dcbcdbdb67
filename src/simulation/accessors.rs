// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accessors: the state of a simulation, and what a caller changes between frames: settings, boundary conditions,
//! colliders, materials and external forces. Each goes to the island of its cloth, or to all.

use super::Simulation;
use crate::{
    error::Result,
    forces::PressureLaw,
    island::Island,
    linear_solver::{BlockMatrix, Ordering},
    material::Material,
    scene::{Settings, Springs},
    system::{Energy, LinearisedMatrices},
    vec3::Vec3,
};

impl Simulation {
    /// Simulated time, in s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.islands.first().state.time
    }

    /// Number of cloths.
    #[must_use]
    pub fn cloth_count(&self) -> usize {
        self.islands.locations.len()
    }

    /// Number of colliders.
    #[must_use]
    pub fn collider_count(&self) -> usize {
        self.islands.first().collider_count()
    }

    /// Positions of a cloth's vertices, in m.
    ///
    /// # Errors
    /// A cloth index out of range.
    pub fn positions(&self, cloth: usize) -> Result<&[Vec3]> {
        Ok(self.islands.positions_at(self.islands.location(cloth)?))
    }

    /// Velocities of a cloth's vertices, in m/s.
    ///
    /// # Errors
    /// A cloth index out of range.
    pub fn velocities(&self, cloth: usize) -> Result<&[Vec3]> {
        Ok(self.islands.velocities_at(self.islands.location(cloth)?))
    }

    /// Energy of all cloths.
    pub fn energy(&mut self) -> Energy {
        let energies = self.islands.groups.iter_mut().map(|group| group.island.energy());
        energies.reduce(|sum, one| sum + one).unwrap_or_default()
    }

    /// Whether there are seams, and whether there are soft pins.
    #[must_use]
    pub fn has_springs(&self) -> [bool; 2] {
        let found: Vec<[bool; 2]> = self.islands.iter().map(Island::has_springs).collect();
        [0, 1].map(|kind| found.iter().any(|has| has[kind]))
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
        let (island, cloth) = self.islands.located(cloth)?;
        island.set_pins(cloth, vertices, targets)
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
        let (island, cloth) = self.islands.located(cloth)?;
        island.set_soft_pins(cloth, vertices, targets, stiffness)
    }

    /// Releases vertices; `None` releases all of the cloth.
    ///
    /// # Errors
    /// A cloth or vertex index out of range.
    pub fn release_pins(&mut self, cloth: usize, vertices: Option<&[usize]>) -> Result<()> {
        let (island, cloth) = self.islands.located(cloth)?;
        island.release_pins(cloth, vertices)
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
        let (island, cloth) = self.islands.located(cloth)?;
        island.set_guided_velocity(cloth, vertices, directions, velocity)
    }

    /// Sets the positions in m that the vertices of a collider reach along straight lines by the end of the next
    /// advance.
    ///
    /// # Errors
    /// A collider index out of range, another number of vertices, or positions that are not finite.
    pub fn set_collider(&mut self, collider: usize, positions: Vec<Vec3>) -> Result<()> {
        self.islands.change_all(|island| island.set_collider(collider, &positions))
    }

    /// Sets the material of a cloth from now on.
    ///
    /// # Errors
    /// A cloth index out of range, an invalid material, or one that the model cannot simulate.
    pub fn set_material(&mut self, cloth: usize, material: Material) -> Result<()> {
        let (island, cloth) = self.islands.located(cloth)?;
        island.set_material(cloth, material)
    }

    /// Sets the springs of a cloth from now on, in place of all that it had.
    ///
    /// # Errors
    /// A cloth index out of range, or springs that are not valid (see [`Springs::checked`]).
    pub fn set_springs(&mut self, cloth: usize, springs: Option<Springs>) -> Result<()> {
        let threads = self.threads.clone();
        let (island, cloth) = self.islands.located(cloth)?;
        threads.run(|| island.set_springs(cloth, springs))
    }

    /// Sets gravity, in m/s².
    ///
    /// # Errors
    /// A component that is not finite.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<()> {
        self.islands.change_all(|island| island.set_gravity(gravity))
    }

    /// Sets the velocity of the air, in m/s.
    ///
    /// # Errors
    /// A component that is not finite.
    pub fn set_wind(&mut self, wind: Vec3) -> Result<()> {
        self.islands.change_all(|island| island.set_wind(wind))
    }

    /// Sets the external forces on the vertices of a cloth in N, until changed.
    ///
    /// # Errors
    /// A cloth index out of range, or forces that are not finite or not one for each vertex.
    pub fn set_vertex_forces(&mut self, cloth: usize, forces: &[Vec3]) -> Result<()> {
        let (island, cloth) = self.islands.located(cloth)?;
        island.set_vertex_forces(cloth, forces)
    }

    /// Sets the pressure inside a cloth above that outside, until changed; `None` for the same. A target volume of 0 is
    /// that at the start.
    ///
    /// # Errors
    /// A cloth index out of range, a number that is not finite, a negative stiffness or volume, weights that are not
    /// one for each vertex, or a stiffness without a volume to keep.
    pub fn set_pressure(&mut self, cloth: usize, law: Option<PressureLaw>) -> Result<()> {
        let (island, cloth) = self.islands.located(cloth)?;
        island.set_pressure(cloth, law)
    }

    /// Volume that a cloth encloses in m³, positive if its faces turn around outward normals.
    ///
    /// # Errors
    /// A cloth index out of range.
    pub fn volume(&self, cloth: usize) -> Result<f64> {
        let location = self.islands.location(cloth)?;
        Ok(self.islands.groups[location.group].island.volume(location.cloth))
    }

    /// Present settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.islands.first().solver.settings
    }

    /// Sets the time step, the tolerance, the iteration limit and the air density from now on. Other fields of
    /// `settings` have no effect.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        let settings = settings.checked()?;
        self.islands.change_all(|island| {
            island.set_settings(&settings);
            Ok(())
        })
    }

    /// Sets the friction coefficient and the thickness in m of a collider from now on.
    ///
    /// # Errors
    /// An index that is no collider, or a value that is not a finite number of 0 or more.
    pub fn set_collider_surface(
        &mut self,
        collider: usize,
        friction: f64,
        thickness: f64,
    ) -> Result<()> {
        self.islands.change_all(|island| island.set_collider_surface(collider, friction, thickness))
    }

    /// Sets the factors on the lengths at rest of a cloth along warp and weft, for each vertex, from now on.
    ///
    /// # Errors
    /// An index that is no cloth, or factors that are not finite numbers above 0 or not one pair for each vertex.
    pub fn set_rest_scale(&mut self, cloth: usize, scale: &[[f64; 2]]) -> Result<()> {
        let (island, cloth) = self.islands.located(cloth)?;
        island.set_rest_scale(cloth, scale)
    }

    /// Assembles the tangent matrix at the positions where forces were last evaluated, without contacts, with the
    /// inertia of implicit Euler steps of `duration` in s. [`Self::ordering`] is the order of its rows. Runs on the
    /// threads of the caller.
    pub fn assemble(&mut self, duration: f64) -> &BlockMatrix {
        self.islands.unite_all();
        self.islands.groups[0].island.assemble(duration)
    }

    /// Sparse matrices of the equations of motion at the present positions, and A of an implicit Euler step of
    /// `duration` in s; of `Settings::time_step` where there is none.
    ///
    /// # Errors
    /// A duration that is not a finite number above 0.
    pub fn matrices(&mut self, duration: Option<f64>) -> Result<LinearisedMatrices> {
        let threads = self.threads.clone();
        if let [group] = &mut self.islands.groups[..] {
            return threads.run(|| group.island.matrices(duration));
        }
        let all: Vec<usize> = (0..self.cloth_count()).collect();
        let mut united = self.islands.gathered_group(&all);
        threads.run(|| united.island.matrices(duration))
    }

    /// Order of the vertices in the rows of the tangent matrix.
    #[must_use]
    pub fn ordering(&self) -> &Ordering {
        self.islands.first().ordering()
    }
}
