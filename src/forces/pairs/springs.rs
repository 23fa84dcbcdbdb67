// SPDX-License-Identifier: MIT OR Apache-2.0
//! Springs between any two vertices of a cloth, each with its own stiffness, damping and length at rest (Cords 2004, sections 2.2.1
//! and 5.7): inner springs of soft bodies, and nets of the caller's own.
//!
//! The tension is k(l − l₀) + d dl/dt, along the spring (eq. 4.37), with k for a spring that is too long and k' for one that is too
//! short. The tangent leaves out the transverse part of springs that push.

use crate::{
    forces::{
        elements::{
            AddBlock, BlockColumns, ElasticEnergy, ElementLoads, Elements, MemberTangents,
            StoredTangents, Tangents, add_scaled, columns,
        },
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::Mesh,
    parallel::reductions,
    scene::Springs,
    vec3::Vec3,
};
use nalgebra::Matrix3;
use rayon::prelude::*;

/// A spring.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// k and k', in N/m.
    stiffness: [f64; 2],
    /// d, in N·s/m.
    damping: f64,
    /// l₀, in m.
    rest: f64,
}

/// A spring at its current length.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    direction: Vec3,
    /// Derivative of the tension, in N/m.
    stiffness: f64,
    /// Tension over length, in N/m; 0 for a spring that pushes.
    transverse: f64,
}

/// Springs of all cloths, `None` for a cloth without; no elements if there are none at all.
#[must_use]
pub fn springs<'a>(
    of_cloths: impl Iterator<Item = Option<&'a Springs>>,
    mesh: &Mesh,
) -> Option<Box<dyn Elements>> {
    let (mut members, mut vertices) = (Vec::new(), Vec::new());
    for (springs, first) in of_cloths.zip(&mesh.cloth_starts) {
        let Some(springs) = springs else { continue };
        for (index, pair) in springs.pairs.iter().enumerate() {
            let ends = pair.map(|vertex| vertex + *first as u32);
            let [a, b] = ends.map(|vertex| mesh.rest.positions[vertex as usize]);
            let lengths = springs.lengths.as_ref();
            members.push(Member {
                stiffness: [springs.stiffness[index], springs.compression[index]],
                damping: springs.damping[index],
                rest: lengths.map_or_else(|| (b - a).norm(), |lengths| lengths[index]),
            });
            vertices.push(ends);
        }
    }
    (!members.is_empty()).then(|| {
        let elements: Box<dyn Elements> = Box::new(SpringElements {
            loads: ElementLoads::new(vertices, mesh.vertex_count()),
            shapes: vec![Shape::default(); members.len()],
            tangents: vec![BlockColumns::default(); members.len()],
            members,
        });
        elements
    })
}

#[derive(Clone, Debug)]
struct SpringElements {
    members: Vec<Member>,
    loads: ElementLoads<2>,
    shapes: Vec<Shape>,
    /// Diagonal block of each spring.
    tangents: Vec<BlockColumns>,
}

impl Member {
    /// k or k' at an elongation in m.
    fn stiffness_at(&self, elongation: f64) -> f64 {
        self.stiffness[usize::from(elongation < 0.0)]
    }

    /// Energy in J at a length in m.
    fn energy(&self, length: f64) -> f64 {
        let elongation = length - self.rest;
        0.5 * self.stiffness_at(elongation) * elongation * elongation
    }
}

/// From the first end of a spring to the second.
fn span([a, b]: [u32; 2], field: &[Vec3]) -> Vec3 {
    field[b as usize] - field[a as usize]
}

impl AddBlock<2> for SpringElements {
    #[inline(always)]
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        add_scaled(block, if i == j { 1.0 } else { -1.0 }, &self.tangents[element]);
    }
}

impl Elements for SpringElements {
    fn vertices(&self) -> &[u32] {
        self.loads.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        2
    }

    fn measure_count(&self) -> usize {
        self.members.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        for (length, ends) in measures.iter_mut().zip(&self.loads.vertices) {
            *length = span(*ends, positions).norm();
        }
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        let (members, vertices) = (&self.members, &self.loads.vertices);
        let one = |index: usize, shape: &mut Shape, loads: &mut [Vec3; 2]| {
            let (member, span) = (&members[index], span(vertices[index], positions));
            let length = span.norm();
            let direction = span / length.max(f64::MIN_POSITIVE);
            let stiffness = member.stiffness_at(length - member.rest);
            let change = length - history.reference.get(index).unwrap_or(&length);
            let damping = member.damping * history.inverse_beta;
            let tension = stiffness * (length - member.rest) + damping * change;
            *shape = Shape {
                direction,
                stiffness: stiffness + damping,
                transverse: tension.max(0.0) / length.max(f64::MIN_POSITIVE),
            };
            // A spring without length at rest is as stiff across as along.
            shape.transverse = shape.transverse.min(shape.stiffness);
            *loads = [direction * tension, direction * -tension];
            member.energy(length) + 0.5 * damping * change * change
        };
        let (shapes, loads) = (&mut self.shapes, &mut self.loads.forces);
        let potential =
            reductions::sum_zipped(shapes, loads, reductions::MIN_ELEMENTS_PER_TASK, one);
        self.loads.gather(forces);
        potential
    }

    fn update_tangent(&mut self) {
        let each = (&mut self.tangents, &self.shapes).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(|(tangent, shape)| {
            let dyad = shape.direction * shape.direction.transpose();
            let axial = shape.stiffness - shape.transverse;
            *tangent = columns(&(dyad * axial + Matrix3::identity() * shape.transverse));
        });
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(MemberTangents::<_, 2>(StoredTangents { elements: self, members }))
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let each = self.members.iter().zip(&self.loads.vertices);
        let stretch = each.map(|(member, ends)| member.energy(span(*ends, positions).norm())).sum();
        ElasticEnergy { stretch, ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, _mesh: &Mesh, _cloth: usize, _material: &Material) {}
}
