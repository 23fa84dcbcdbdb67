// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which vertices springs connect (Cords 2004, sections 2.2.1 and 5.7; Hayler 2004, section 3.1).
//!
//! Edges are structural springs and the diagonals of quads shear springs. Bend springs connect the neighbours of a
//! vertex that lie opposite each other, two edges apart, wherever quads meet; where a triangle is on a side of an edge
//! (other faces count as the triangles they are cut into), the corners opposite that edge. In the layout of 16
//! neighbours they also connect the far corners of opposite quads. A grid then has 4 structural, 4 shear and 4 or 8
//! bend springs at a vertex. Where cloth is folded onto itself at rest, as two panels with one border, those across the fold
//! would have no length, and there are none.

use super::SpringParameters;
use crate::{
    forces::model_input::{ModelInput, scale_along},
    mesh::{Edge, Fan, Mesh, QuadCorner, Quads},
    vec3::Vec3,
};
use std::collections::BTreeSet;

/// Deformation that a spring resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpringKind {
    /// Stretch along an edge.
    Structural,
    /// Shear, along a diagonal of a quad.
    Shear,
    /// Across a vertex, along the edges.
    Bend,
    /// Across a vertex, along the diagonals.
    DiagonalBend,
    /// Across an edge of a triangle.
    HingeBend,
}

/// A spring in the rest shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spring {
    pub(super) kind: SpringKind,
    pub(super) vertices: [u32; 2],
    pub(super) cloth: u32,
    /// Length at rest of cloth that nothing shrinks or lengthens, in m.
    pub(super) length: f64,
    /// Factor on that length.
    pub(super) scale: f64,
    /// Square of the cosine between the spring and the warp.
    pub(super) along_warp: f64,
    /// Sign of the shear that lengthens a shear spring: 1 for the diagonal between warp and weft, −1 for the other one.
    pub(super) slant: f64,
    /// Areas of quads and of triangles that the spring represents, in m².
    pub(super) areas: [f64; 2],
    /// Factor on the stiffness.
    pub(super) factor: f64,
    /// Factors on the moduli of stretch, shear and bending for this spring; `None`: all 1.
    pub(super) properties: Option<[f64; 3]>,
}

impl Spring {
    /// Length at rest, in m.
    pub(super) fn rest(&self) -> f64 {
        self.length * self.scale
    }

    /// Takes on factors on the lengths along warp and weft.
    pub(super) fn set_scale(&mut self, scale: [f64; 2]) {
        self.scale = scale_along(self.along_warp, scale);
    }

    /// Whether it resists bending.
    pub(super) fn resists_bending(&self) -> bool {
        !matches!(self.kind, SpringKind::Structural | SpringKind::Shear)
    }
}

/// All springs of a scene. `has_diagonals`: the layout of 16 neighbours.
pub(super) fn springs(input: &ModelInput<'_>, has_diagonals: bool) -> Vec<Spring> {
    let mesh = input.mesh;
    let quads = Quads::new(mesh);
    let layout = Layout { input, mesh, is_quad: quad_triangles(mesh), quads };
    let mut springs = Vec::new();
    layout.add_edges(&mut springs);
    layout.add_diagonals(&mut springs);
    for fan in layout.quads.fans(mesh.vertex_count()) {
        layout.add_across_vertex(&fan, has_diagonals, &mut springs);
    }
    let min_length = SpringParameters::DEFAULT.min_bend_spring_length;
    springs.retain(|spring| {
        let area: f64 = spring.areas.iter().sum();
        !spring.resists_bending() || spring.length > min_length * area.sqrt()
    });
    springs
}

struct Layout<'a> {
    input: &'a ModelInput<'a>,
    mesh: &'a Mesh,
    quads: Quads,
    /// Whether a triangle is half of a quad.
    is_quad: Vec<bool>,
}

impl Layout<'_> {
    fn spring(
        &self,
        kind: SpringKind,
        vertices: [u32; 2],
        cloth: u32,
        warp: &Vec3,
        areas: [f64; 2],
    ) -> Spring {
        let [a, b] = vertices.map(|vertex| self.mesh.rest.positions[vertex as usize]);
        let length = (b - a).norm();
        let along_warp = ((b - a).dot(warp) / length).powi(2).min(1.0);
        let mut spring = Spring {
            kind,
            vertices,
            cloth,
            length,
            scale: 1.0,
            along_warp,
            slant: 0.0,
            areas,
            factor: self.input.mean_stiffness_scale(&vertices),
            properties: (!self.input.property_scale.is_empty())
                .then(|| self.input.mean_property_scale(&vertices)),
        };
        spring.set_scale(self.input.mean_rest_scale(&vertices));
        spring
    }

    fn add_edges(&self, springs: &mut Vec<Spring>) {
        let (mesh, faces) = (self.mesh, &self.mesh.topology.face_of_triangle);
        for edge in &mesh.topology.edges {
            let left = edge.triangles[0] as usize;
            let sides = || edge.triangles.iter().filter(|side| **side != Edge::NONE);
            let is_inside_quad = self.is_quad[left]
                && sides().count() == 2
                && faces[left] == faces[edge.triangles[1] as usize];
            if is_inside_quad {
                continue;
            }
            let mut areas = [0.0; 2];
            for side in sides().map(|side| *side as usize) {
                if self.is_quad[side] {
                    areas[0] += 0.5 * self.area_of_face(side);
                } else {
                    areas[1] += mesh.rest.areas[side];
                }
            }
            let (cloth, warp) = (mesh.cloth_of_triangle[left], mesh.warp(left));
            springs.push(self.spring(SpringKind::Structural, edge.vertices, cloth, &warp, areas));
            if !edge.is_boundary() && sides().any(|side| !self.is_quad[*side as usize]) {
                let across = [0, 1].map(|side| mesh.topology.opposite(edge, side));
                let area: f64 = sides().map(|side| mesh.rest.areas[*side as usize]).sum();
                springs.push(self.spring(SpringKind::HingeBend, across, cloth, &warp, [0.0, area]));
            }
        }
    }

    fn add_diagonals(&self, springs: &mut Vec<Spring>) {
        let each = self.quads.vertices.iter().zip(&self.quads.warps).zip(&self.quads.cloths);
        for (([a, b, c, d], warp), cloth) in each {
            let [p, q, r, s] =
                [a, b, c, d].map(|vertex| self.mesh.rest.positions[*vertex as usize]);
            let diagonals = [r - p, s - q];
            let normal = diagonals[0].cross(&diagonals[1]);
            let weft = normal.cross(warp);
            let area = 0.5 * normal.norm();
            for (ends, diagonal) in [[*a, *c], [*b, *d]].into_iter().zip(diagonals) {
                let spring = self.spring(SpringKind::Shear, ends, *cloth, warp, [area, 0.0]);
                let slant = (diagonal.dot(warp) * diagonal.dot(&weft)).signum();
                springs.push(Spring { slant, ..spring });
            }
        }
    }

    fn add_across_vertex(&self, fan: &Fan, has_diagonals: bool, springs: &mut Vec<Spring>) {
        let spokes = fan.spokes(&self.quads);
        let first = fan.quads[0].quad as usize;
        let (cloth, warp) = (self.quads.cloths[first], &self.quads.warps[first]);
        let area: f64 = fan.quads.iter().map(|quad| self.corner_area(*quad)).sum();
        let lines = opposite_spokes(fan, spokes.len());
        // Each of two lines through a vertex represents its whole area.
        let area_of_line = area * (2.0 / lines.len().max(2) as f64);
        for [a, b] in lines {
            let ends = [spokes[a], spokes[b]];
            springs.push(self.spring(SpringKind::Bend, ends, cloth, warp, [area_of_line, 0.0]));
        }
        if has_diagonals && fan.is_closed && fan.quads.len() == 4 {
            for [a, b] in [[0, 2], [1, 3]] {
                let ends = [a, b].map(|quad: usize| self.quads.corner_after(fan.quads[quad], 2));
                springs.push(self.spring(SpringKind::DiagonalBend, ends, cloth, warp, [area, 0.0]));
            }
        }
    }

    fn corner_area(&self, quad: QuadCorner) -> f64 {
        let here = self.quads.corner_after(quad, 0);
        let [a, b] = [1, 3].map(|count| self.quads.corner_after(quad, count));
        let at = |vertex: u32| self.mesh.rest.positions[vertex as usize];
        0.25 * (at(a) - at(here)).cross(&(at(b) - at(here))).norm()
    }

    /// Area of the face that a triangle was cut from, which is a quad.
    fn area_of_face(&self, triangle: usize) -> f64 {
        let faces = &self.mesh.topology.face_of_triangle;
        let other = match faces.get(triangle + 1) {
            Some(face) if *face == faces[triangle] => triangle + 1,
            _ => triangle - 1,
        };
        self.mesh.rest.areas[triangle] + self.mesh.rest.areas[other]
    }
}

/// Spokes that lie opposite each other.
fn opposite_spokes(fan: &Fan, count: usize) -> Vec<[usize; 2]> {
    if let Some(lines) = fan.lines() {
        return lines.to_vec();
    }
    if !fan.is_closed {
        return (0..count - 2).map(|spoke| [spoke, spoke + 2]).collect();
    }
    let opposite = |spoke: usize| {
        let other = (spoke + count / 2) % count;
        [spoke.min(other), spoke.max(other)]
    };
    let lines: BTreeSet<[usize; 2]> = (0..count).map(opposite).collect();
    lines.into_iter().collect()
}

/// Which triangles are halves of quads.
fn quad_triangles(mesh: &Mesh) -> Vec<bool> {
    let faces = mesh.topology.face_of_triangle.chunk_by(|a, b| a == b);
    faces.flat_map(|face| std::iter::repeat_n(face.len() == 2, face.len())).collect()
}
