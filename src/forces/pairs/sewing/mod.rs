// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seams: pairs of vertices that are pulled together and then joined.
//!
//! A pair that starts a length L apart is a spring which only pulls, and whose length at rest goes from L to 0 within a
//! fraction of the closing time. Its tension is the stiffness times its excess length, and at most its bound. Once
//! closed it is a spring of length 0, whose force k(x_b − x_a) is linear and costs no extra Newton iteration.
//!
//! The length at rest starts to shrink slowly and then shrinks at a constant rate to its end: if it slowed down there,
//! moving cloth would overtake it, go slack and be caught again and again.
//!
//! A pair that starts together, as one of a dressed garment, is closed from the start.
//!
//! The stiffness is a multiple of the membrane modulus, and the bound the force that stretches the cloth beside it by a
//! fraction of its length, so that neither has to be chosen anew when the mesh or the fabric changes. A pair is soft,
//! at its bound when it is as much too long as it is wide, until its length at rest is 0, and becomes stiff in the rest
//! of the closing time: stiff from the start, the cloth would be pulled in jerks. Until then changes of the length are
//! damped. A closed pair has a slight friction in all directions, without visible delay: it damps the vibration between
//! both ends, which schemes without damping keep for ever and explicit Euler amplifies.

#[cfg(test)]
mod tests;

use crate::{
    forces::{
        elements::{
            AddBlock, BlockColumns, ElasticEnergy, ElementLoads, Elements, MemberTangents,
            StoredTangents, Tangents, add_scaled, columns,
        },
        model_input::ModelInput,
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::Mesh,
    parallel::reductions,
    scene::Sewing,
    vec3::Vec3,
};
use nalgebra::Matrix3;
use rayon::prelude::*;

/// Heuristic parameters of seams.
struct SewingParameters {
    /// Stiffness of a closed pair (multiples of the larger membrane modulus). Effect: larger keeps closed seams closer
    /// together under load; smaller lets them gape. Evidence: `tests/python/motion/test_sewing.py` passes with 2, 10
    /// and 40: the value sets the gap of a loaded seam alone.
    stiffness_factor: f64,
    /// Fraction of the closing time after which the length at rest is 0 and pairs become stiff. Effect: larger leaves
    /// less time to become stiff, with jerks; smaller pulls the pairs together faster. Evidence:
    /// `test_a_seam_closes_within_its_time` and `test_a_seam_closes_with_every_integrator` (fail with 0.99, pass with
    /// 0.375).
    closed_fraction: f64,
    /// Fraction of that time in which the rate of shrinking grows to its constant value. Effect: larger starts more
    /// gently and ends faster; smaller starts with a jerk. Evidence:
    /// `test_a_bounded_force_holds_the_weight_that_it_can_and_no_more` (fails with 0.01, passes with 0.6).
    acceleration_fraction: f64,
    /// Kelvin-Voigt time of a closing pair (s). Effect: larger damps the closing more and delays it; smaller lets
    /// closing cloth swing. Evidence: `test_a_seam_closes_with_every_integrator` (fails with 0).
    closing_damping: f64,
    /// Friction of a closed pair in all directions over its stiffness (s). Effect: larger damps vibrations between both
    /// ends more; smaller leaves them to schemes without damping. Evidence: `test_a_seam_closes_with_every_integrator`
    /// (fails with 0).
    closed_damping: f64,
    /// Largest friction of a closed pair at 1 m/s (fraction of its largest force). Effect: larger slows closed seams
    /// that still move apart; smaller damps stiff seams less. Evidence: `tests/python/motion/test_sewing.py` passes
    /// without a bound.
    max_friction_fraction: f64,
    /// Largest force of a pair if none is given, as the strain of the cloth beside it (1). Effect: larger closes
    /// against more resistance and stretches the cloth more; smaller leaves seams open. Evidence:
    /// `tests/python/motion/test_sewing.py` passes with 0.05.
    max_stretch: f64,
}

impl SewingParameters {
    const DEFAULT: Self = Self {
        stiffness_factor: 20.0,
        closed_fraction: 0.75,
        acceleration_fraction: 0.3,
        closing_damping: 0.02,
        closed_damping: 1.0e-4,
        max_friction_fraction: 0.1,
        max_stretch: 0.25,
    };
}

/// Measures of a pair: its length, and the vector from its first vertex to its second.
const MEASURES: usize = 4;

/// Elements of the seams of all cloths, in their order; `None` if there are no seams.
#[must_use]
pub fn sewing<'a>(
    of_cloths: impl Iterator<Item = Option<&'a Sewing>>,
    input: &ModelInput<'_>,
) -> Option<Box<dyn Elements>> {
    let mut members = Vec::new();
    for (index, sewing) in of_cloths.enumerate() {
        let first = input.mesh.cloth_starts[index] as u32;
        let Some(sewing) = sewing else { continue };
        members.extend(sewing.pairs.iter().map(|pair| {
            let vertices = pair.map(|vertex| first + vertex);
            let area = vertices.map(|vertex| input.mesh.rest.vertex_areas[vertex as usize]);
            let member = SewnPair {
                vertices,
                cloth: index as u32,
                // Half the neighbourhood of a vertex on a border is missing.
                width: (2.0 * area[0].min(area[1])).sqrt(),
                time: sewing.time,
                requested_bound: sewing.force,
                stiffness: 0.0,
                bound: 0.0,
                initial_length: 0.0,
            };
            member.with_material(&input.materials[index])
        }));
    }
    (!members.is_empty()).then(|| {
        let seams: Box<dyn Elements> = Box::new(SewingElements::new(members, input.mesh));
        seams
    })
}

/// A pair.
#[derive(Clone, Copy, Debug)]
struct SewnPair {
    vertices: [u32; 2],
    cloth: u32,
    /// Length of the seam that the pair represents, in m.
    width: f64,
    /// Closing time, in s.
    time: f64,
    /// Largest force given by the caller, in N.
    requested_bound: Option<f64>,
    /// Stiffness of the closed pair, in N/m.
    stiffness: f64,
    /// Largest force, in N.
    bound: f64,
    /// Length at the start of closing, in m.
    initial_length: f64,
}

/// Length at rest, stiffness and damping of a pair at a time.
#[derive(Clone, Copy, Debug)]
struct PairState {
    /// Length at rest, in m.
    rest: f64,
    /// Axial stiffness, in N/m.
    stiffness: f64,
    /// Viscosity for changes of the length, in N·s/m.
    viscosity: f64,
    /// Viscosity for all relative displacements, in N·s/m.
    friction: f64,
}

/// Force, energy and stiffness of a pair at one length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PairResponse {
    direction: Vec3,
    /// Tension, in N.
    tension: f64,
    /// Derivative of the tension by the length, in N/m.
    axial_stiffness: f64,
    /// Tension over length, in N/m.
    transverse_stiffness: f64,
    /// Friction, in N.
    drag: Vec3,
    /// Potential, in J.
    energy: f64,
}

impl SewnPair {
    /// Stiffness and largest force from the modulus of a material.
    fn with_material(mut self, material: &Material) -> Self {
        let SewingParameters { stiffness_factor, max_stretch, .. } = SewingParameters::DEFAULT;
        let modulus = material.stretch_warp.max(material.stretch_weft);
        self.stiffness = stiffness_factor * modulus;
        self.bound = self.requested_bound.unwrap_or(max_stretch * modulus * self.width);
        self
    }

    /// State of the pair after `seconds` in s since the start.
    fn state_after(&self, seconds: f64) -> PairState {
        let parameters = SewingParameters::DEFAULT;
        let closed = parameters.closed_fraction;
        let fraction = if self.starts_closed() { 1.0 } else { (seconds / self.time).min(1.0) };
        let soft = (self.bound / self.width).min(self.stiffness);
        if fraction < closed {
            return PairState {
                rest: self.initial_length * (1.0 - removed_fraction(fraction / closed)),
                stiffness: soft,
                viscosity: parameters.closing_damping * soft,
                friction: 0.0,
            };
        }
        let fraction = (fraction - closed) / (1.0 - closed);
        let exponent = fraction * fraction * (3.0 - 2.0 * fraction);
        let stiffness = soft * (self.stiffness / soft).powf(exponent);
        let max_friction = parameters.max_friction_fraction * self.bound;
        let friction = (parameters.closed_damping * stiffness).min(max_friction);
        PairState { rest: 0.0, stiffness, viscosity: 0.0, friction }
    }

    /// Whether the closed pair holds its initial length by less than its largest force: there is nothing to close.
    fn starts_closed(&self) -> bool {
        self.initial_length * self.stiffness <= self.bound
    }

    /// Response to a `span` in m from its first vertex to its second, without viscosity.
    fn response(&self, span: &Vec3, state: &PairState) -> PairResponse {
        let PairState { rest, stiffness, .. } = *state;
        let length = span.norm();
        let excess = length - rest;
        let direction = if length > 0.0 { span / length } else { Vec3::zeros() };
        if excess <= 0.0 && rest > 0.0 {
            return PairResponse { direction, ..PairResponse::default() };
        }
        let at_bound = self.bound / stiffness;
        if excess > at_bound {
            return PairResponse {
                direction,
                tension: self.bound,
                axial_stiffness: 0.0,
                transverse_stiffness: self.bound / length,
                energy: self.bound * (excess - 0.5 * at_bound),
                ..PairResponse::default()
            };
        }
        PairResponse {
            drag: Vec3::zeros(),
            direction,
            tension: stiffness * excess,
            axial_stiffness: stiffness,
            // Both stiffnesses are equal if the length at rest is 0, even if the length is 0 too.
            transverse_stiffness: if rest > 0.0 { stiffness * excess / length } else { stiffness },
            energy: 0.5 * stiffness * excess * excess,
        }
    }

    /// Response with viscosity: change from the measures `before` in m, at 1/β in 1/s.
    fn damped_response(
        &self,
        span: &Vec3,
        state: &PairState,
        before: &[f64; MEASURES],
        inverse_beta: f64,
    ) -> PairResponse {
        let mut response = self.response(span, state);
        let [length_before, x, y, z] = *before;
        let [damping, friction] =
            [state.viscosity, state.friction].map(|viscosity| viscosity * inverse_beta);
        let length = span.norm();
        let (change, displacement) = (length - length_before, span - Vec3::new(x, y, z));
        response.tension += damping * change;
        response.energy +=
            0.5 * (damping * change * change + friction * displacement.norm_squared());
        // A compressive viscous force has no transverse stiffness.
        let transverse =
            response.transverse_stiffness + damping * change / length.max(f64::MIN_POSITIVE);
        response.transverse_stiffness = transverse.max(0.0) + friction;
        response.axial_stiffness += damping + friction;
        response.drag = displacement * friction;
        response
    }
}

/// Fraction of the initial length that has been removed after a fraction `time` of the time.
fn removed_fraction(time: f64) -> f64 {
    let end = SewingParameters::DEFAULT.acceleration_fraction;
    let speed = 1.0 / (1.0 - 0.5 * end);
    let accelerated = time.min(end);
    speed * (0.5 * accelerated * accelerated / end + (time - accelerated))
}

/// Elements of all sewn pairs of a scene.
#[derive(Clone, Debug)]
struct SewingElements {
    members: Vec<SewnPair>,
    loads: ElementLoads<2>,
    responses: Vec<PairResponse>,
    /// Diagonal block of each pair.
    tangents: Vec<BlockColumns>,
    /// Whether the initial lengths are set.
    has_started: bool,
    /// Time since the start of each cloth, in s.
    elapsed: Vec<f64>,
    /// Time from the last step to the evaluation, in s.
    stage_duration: f64,
    /// Whether tangents are the stiffest up to that time, for any shape.
    is_stiffest: bool,
    /// 1/β of the last evaluation, in 1/s.
    inverse_beta: f64,
}

impl SewingElements {
    fn new(members: Vec<SewnPair>, mesh: &Mesh) -> Self {
        let vertices: Vec<[u32; 2]> = members.iter().map(|member| member.vertices).collect();
        Self {
            loads: ElementLoads::new(vertices, mesh.vertex_count()),
            responses: vec![PairResponse::default(); members.len()],
            tangents: vec![BlockColumns::default(); members.len()],
            has_started: false,
            elapsed: vec![0.0; mesh.cloth_count()],
            stage_duration: 0.0,
            is_stiffest: false,
            inverse_beta: 0.0,
            members,
        }
    }

    /// Time since the start of the cloth of a pair at the end of the last step, in s.
    fn elapsed(&self, member: &SewnPair) -> f64 {
        self.elapsed[member.cloth as usize]
    }
}

impl AddBlock<2> for SewingElements {
    #[inline(always)]
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        add_scaled(block, if i == j { 1.0 } else { -1.0 }, &self.tangents[element]);
    }
}

impl Elements for SewingElements {
    fn vertices(&self) -> &[u32] {
        self.loads.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        2
    }

    fn measure_count(&self) -> usize {
        MEASURES * self.members.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        for (measures, member) in measures.as_chunks_mut().0.iter_mut().zip(&self.members) {
            *measures = measured(&span(member, positions));
        }
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        self.inverse_beta = history.inverse_beta;
        let (members, elapsed, duration) = (&self.members, &self.elapsed, self.stage_duration);
        let references = history.reference.as_chunks::<MEASURES>().0;
        let one = |index: usize, response: &mut PairResponse, loads: &mut [Vec3; 2]| {
            let member = &members[index];
            let seconds = elapsed[member.cloth as usize] + duration;
            let (span, state) = (span(member, positions), member.state_after(seconds));
            let before = references.get(index).copied().unwrap_or_else(|| measured(&span));
            *response = member.damped_response(&span, &state, &before, history.inverse_beta);
            let load = response.direction * response.tension + response.drag;
            *loads = [load, -load];
            response.energy
        };
        let loads = &mut self.loads.forces;
        let potential = reductions::sum_zipped(
            &mut self.responses,
            loads,
            reductions::MIN_ELEMENTS_PER_TASK,
            one,
        );
        self.loads.gather(forces);
        potential
    }

    fn update_tangent(&mut self) {
        if self.is_stiffest {
            for (tangent, member) in self.tangents.iter_mut().zip(&self.members) {
                let elapsed = self.elapsed[member.cloth as usize];
                let later = member.state_after(elapsed + self.stage_duration);
                let viscosity = member.state_after(elapsed).viscosity.max(later.friction);
                let stiffness = later.stiffness + viscosity * self.inverse_beta;
                *tangent = columns(&(Matrix3::identity() * stiffness));
            }
            return;
        }
        let each = (&mut self.tangents, &self.responses).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(|(tangent, response)| {
            let dyad = response.direction * response.direction.transpose();
            let matrix = dyad * (response.axial_stiffness - response.transverse_stiffness)
                + Matrix3::identity() * response.transverse_stiffness;
            *tangent = columns(&matrix);
        });
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(MemberTangents::<_, 2>(StoredTangents { elements: self, members }))
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let energies = self.members.iter().map(|member| {
            let state = member.state_after(self.elapsed(member));
            member.response(&span(member, positions), &state).energy
        });
        ElasticEnergy { sewing: energies.sum(), ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        for member in &mut self.members {
            if member.cloth as usize == cloth {
                *member = member.with_material(material);
            }
        }
    }

    fn start_history(&mut self, positions: &[Vec3]) {
        // A change of the material does not restart the closing.
        if !self.has_started {
            self.has_started = true;
            for member in &mut self.members {
                member.initial_length = span(member, positions).norm();
            }
        }
    }

    fn begin_stage(&mut self, duration: f64) {
        self.stage_duration = duration;
    }

    fn end_step(&mut self, _positions: &[Vec3], duration: f64) {
        for elapsed in &mut self.elapsed {
            *elapsed += duration;
        }
        self.stage_duration = 0.0;
    }

    fn set_stiffest_tangent(&mut self, is_stiffest: bool) {
        self.is_stiffest = is_stiffest;
    }

    fn is_time_dependent(&self) -> bool {
        let is_closing =
            |member: &SewnPair| self.elapsed(member) < member.time && !member.starts_closed();
        !self.has_started || self.members.iter().any(is_closing)
    }

    fn internal_variables(&self, mesh: &Mesh) -> Vec<Vec<f64>> {
        let mut of_cloths = vec![Vec::new(); mesh.cloth_count()];
        for own in self.members.chunk_by(is_of_same_cloth) {
            let starts = own.iter().map(|member| member.initial_length);
            of_cloths[own[0].cloth as usize] =
                std::iter::once(self.elapsed(&own[0])).chain(starts).collect();
        }
        of_cloths
    }

    fn internal_variable_counts(&self, mesh: &Mesh) -> Vec<usize> {
        self.internal_variables(mesh).iter().map(Vec::len).collect()
    }

    fn set_internal_variables(&mut self, _mesh: &Mesh, of_cloths: &[&[f64]]) {
        for own in self.members.chunk_by_mut(is_of_same_cloth) {
            let cloth = own[0].cloth as usize;
            let Some((elapsed, starts)) = of_cloths[cloth].split_first() else { continue };
            self.elapsed[cloth] = *elapsed;
            self.stage_duration = 0.0;
            self.has_started = true;
            for (member, start) in own.iter_mut().zip(starts) {
                member.initial_length = *start;
            }
        }
    }
}

/// Whether pairs are seams of the same cloth; pairs are sorted by cloth.
fn is_of_same_cloth(first: &SewnPair, second: &SewnPair) -> bool {
    first.cloth == second.cloth
}

/// From the first vertex of a pair to the second.
fn span(member: &SewnPair, field: &[Vec3]) -> Vec3 {
    let [a, b] = member.vertices.map(|vertex| field[vertex as usize]);
    b - a
}

fn measured(span: &Vec3) -> [f64; MEASURES] {
    [span.norm(), span.x, span.y, span.z]
}
