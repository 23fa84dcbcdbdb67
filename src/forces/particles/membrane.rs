// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a quad takes the derivatives of the position along its yarns.
//!
//! Tension and transverse contraction are taken at each corner, from its two edges, for a quarter of the area. On a
//! rectangular mesh along the yarns ‖s_u‖ is then the stretch of an edge, and the four corners beside it add up
//! to k · (dual width) · strain: Etzmuss 2002, algorithm 1, on nonuniform spacing. Contraction couples the two edges of
//! every corner (algorithm 5, which takes two of the four and so prefers a side).
//!
//! Shear is taken in the middle of a quad, by central differences of its corners (eq. 2.21). Algorithm 2 takes it at
//! the particles, across two cells: rows of particles that shift against each other in turns are then not
//! sheared, and nothing resists them; and its replacement of missing neighbours halves the strain at a boundary.
//!
//! On any convex quads both are the rules of bilinear elements that integrate constant stress exactly, so that a
//! mesh stretched alike at its boundary stretches alike inside; the axes of the yarns need not be those of the mesh.

use crate::{
    Vec3,
    forces::{Sheets, elements::Frame},
    mesh::{Mesh, Quads},
};

/// Two vectors in the plane of a quad, as warp and weft coordinates in m.
struct Plane {
    first: [f64; 2],
    second: [f64; 2],
    /// Area of their parallelogram, in m².
    area: f64,
}

impl Plane {
    fn new(first: &Vec3, second: &Vec3, warp: &Vec3) -> Self {
        let normal = first.cross(second).normalize();
        let warp = (warp - normal * normal.dot(warp)).normalize();
        let weft = normal.cross(&warp);
        let [first, second] = [first, second].map(|edge| [edge.dot(&warp), edge.dot(&weft)]);
        let area = first[0] * second[1] - first[1] * second[0];
        Self { first, second, area }
    }

    /// Factors in s_u and s_v of the vectors that these two have become.
    fn gradients(&self) -> [[f64; 2]; 2] {
        let ([a, b], [c, d]) = (self.first, self.second);
        [[d, -c], [-b, a]].map(|factors| factors.map(|factor| factor / self.area))
    }
}

/// The corners of all quads.
pub(super) fn corners(sheets: &Sheets<'_>, quads: &Quads) -> Vec<Frame<3>> {
    let each = quads.vertices.iter().enumerate();
    each.flat_map(|(quad, vertices)| {
        (0..4).map(move |corner| {
            let [before, here, after] = [3, 0, 1].map(|place| vertices[(corner + place) % 4]);
            let plane = corner_plane(sheets.mesh, [before, here, after], &quads.warps[quad]);
            let [first, second] = plane.gradients();
            Frame {
                vertices: [here, after, before],
                gradients: [opposite(first, second), first, second],
                area: 0.25 * plane.area,
                scale: sheets.scale(&[before, here, after]),
                cloth: quads.cloths[quad],
            }
        })
    })
    .collect()
}

/// The middles of all quads.
pub(super) fn centres(sheets: &Sheets<'_>, quads: &Quads) -> Vec<Frame<4>> {
    let each = quads.vertices.iter().enumerate();
    each.map(|(quad, vertices)| {
        let [a, b, c, d] = vertices.map(|vertex| sheets.mesh.rest.positions[vertex as usize]);
        let plane =
            Plane::new(&((b + c - a - d) * 0.5), &((c + d - a - b) * 0.5), &quads.warps[quad]);
        let [first, second] = plane.gradients();
        let half = |x: f64, y: f64| [0, 1].map(|k| 0.5 * (x * first[k] + y * second[k]));
        Frame {
            vertices: *vertices,
            gradients: [half(-1.0, -1.0), half(1.0, -1.0), half(1.0, 1.0), half(-1.0, 1.0)],
            area: plane.area,
            scale: sheets.scale(vertices),
            cloth: quads.cloths[quad],
        }
    })
    .collect()
}

/// The part of the surface that each vertex stands for: a quarter of the parallelograms of its corners, in m².
pub(super) fn vertex_areas(mesh: &Mesh, quads: &Quads) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    for (vertices, warp) in quads.vertices.iter().zip(&quads.warps) {
        for corner in 0..4 {
            let around = [3, 0, 1].map(|place| vertices[(corner + place) % 4]);
            areas[around[1] as usize] += 0.25 * corner_plane(mesh, around, warp).area;
        }
    }
    areas
}

fn corner_plane(mesh: &Mesh, [before, here, after]: [u32; 3], warp: &Vec3) -> Plane {
    let at = |vertex: u32| mesh.rest.positions[vertex as usize];
    Plane::new(&(at(after) - at(here)), &(at(before) - at(here)), warp)
}

fn opposite(first: [f64; 2], second: [f64; 2]) -> [f64; 2] {
    [-first[0] - second[0], -first[1] - second[1]]
}
