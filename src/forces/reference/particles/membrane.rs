// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integration points of a quad: derivatives of the position along its yarns.
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
//! On any convex quads both are the rules of bilinear elements that integrate constant stress exactly, so that a mesh
//! stretched alike at its boundary stretches alike inside; the axes of the yarns need not be those of the mesh. Warping
//! of a quad does not count as a change of the angle of its corners: see [`Warping`].
//!
//! Where an outline cuts through a quad, the corners are the points of a quadrature rule over the cloth in it: their areas
//! are the integrals of the bilinear shape functions, so that bilinear functions are integrated exactly (moment fitting;
//! Düster, Parvizian, Yang and Rank 2008, the finite cell method).

use crate::{
    forces::{
        elements::{Frame, Warping},
        model_input::ModelInput,
    },
    mesh::{Mesh, Quads},
    vec3::Vec3,
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

/// A quad at rest.
struct Quad<'a> {
    vertices: &'a [u32; 4],
    points: [Vec3; 4],
    warp: &'a Vec3,
    cloth: u32,
    coverage: &'a [f64; 4],
}

impl<'a> Quad<'a> {
    fn all(mesh: &'a Mesh, quads: &'a Quads) -> impl Iterator<Item = Self> {
        let each = quads.vertices.iter().zip(&quads.warps).zip(&quads.cloths).zip(&quads.coverage);
        each.map(|(((vertices, warp), cloth), coverage)| Self {
            points: vertices.map(|vertex| mesh.rest.positions[vertex as usize]),
            vertices,
            warp,
            cloth: *cloth,
            coverage,
        })
    }

    /// The edges at a corner, to the next corner and to the one before.
    fn corner(&self, corner: usize) -> Plane {
        let [before, here, after] = [3, 0, 1].map(|place| self.points[(corner + place) % 4]);
        Plane::new(&(after - here), &(before - here), self.warp)
    }

    /// The middle lines.
    fn centre(&self) -> Plane {
        let [a, b, c, d] = self.points;
        Plane::new(&((b + c - a - d) * 0.5), &((c + d - a - b) * 0.5), self.warp)
    }

    /// Area of the cloth at a corner: its part of a quarter of the parallelogram of its edges, in m².
    fn corner_area(&self, corner: usize, plane: &Plane) -> f64 {
        0.25 * plane.area * self.coverage[corner]
    }

    /// Area of the cloth in the quad, in m².
    fn area(&self) -> f64 {
        let areas = [0, 1, 2, 3].map(|corner| self.corner(corner).area);
        let covered: f64 = areas.iter().zip(self.coverage).map(|(area, part)| area * part).sum();
        self.centre().area * (covered / areas.iter().sum::<f64>())
    }

    /// Factors of the corners in s_u and s_v at the middle.
    fn centre_gradients(&self) -> [[f64; 2]; 4] {
        let [first, second] = self.centre().gradients();
        let half = |x: f64, y: f64| [0, 1].map(|k| 0.5 * (x * first[k] + y * second[k]));
        [half(-1.0, -1.0), half(1.0, -1.0), half(1.0, 1.0), half(-1.0, 1.0)]
    }

    /// Half the difference between the two pairs of opposite corners, less its value for a linear map.
    fn warping(&self) -> [f64; 4] {
        let gradients = self.centre_gradients();
        let signs = [0.5, -0.5, 0.5, -0.5];
        let points = self.points;
        let rest: Vec3 = points.iter().zip(signs).map(|(point, sign)| point * sign).sum();
        // The derivatives of the rest shape itself are its warp and weft.
        let derivative = |axis: usize| -> Vec3 {
            points.iter().zip(&gradients).map(|(point, factors)| point * factors[axis]).sum()
        };
        let along = [0, 1].map(|axis| derivative(axis).dot(&rest));
        std::array::from_fn(|corner| {
            let [a, b] = gradients[corner];
            signs[corner] - a * along[0] - b * along[1]
        })
    }
}

/// The corners of all quads.
pub(super) fn corners(input: &ModelInput<'_>, quads: &Quads) -> Vec<Frame<4>> {
    let frames = Quad::all(input.mesh, quads).flat_map(|quad| {
        let factors = quad.warping();
        let rest: Vec3 =
            quad.points.iter().zip(factors).map(|(point, factor)| point * factor).sum();
        [0, 1, 2, 3].map(|corner| {
            let plane = quad.corner(corner);
            let [first, second] = plane.gradients();
            let mut gradients = [[0.0; 2]; 4];
            gradients[corner] = [-first[0] - second[0], -first[1] - second[1]];
            gradients[(corner + 1) % 4] = first;
            gradients[(corner + 3) % 4] = second;
            // Of the product of both edges in ‖s_u‖² and ‖s_v‖².
            let excess = [0, 1].map(|axis| 2.0 * first[axis] * second[axis]);
            Frame {
                vertices: *quad.vertices,
                gradients,
                area: quad.corner_area(corner, &plane),
                scale: input.mean_rest_scale(quad.vertices),
                factors: input.mean_property_scale(quad.vertices),
                cloth: quad.cloth,
                warping: Warping { factors, excess, rest: rest.norm_squared() },
            }
        })
    });
    frames.collect()
}

/// The middles of all quads.
pub(super) fn centres(input: &ModelInput<'_>, quads: &Quads) -> Vec<Frame<4>> {
    let frames = Quad::all(input.mesh, quads).map(|quad| Frame {
        vertices: *quad.vertices,
        gradients: quad.centre_gradients(),
        area: quad.area(),
        scale: input.mean_rest_scale(quad.vertices),
        factors: input.mean_property_scale(quad.vertices),
        cloth: quad.cloth,
        warping: Warping::NONE,
    });
    frames.collect()
}

/// Area of each vertex: the cloth at its corners, in m².
pub(super) fn vertex_areas(mesh: &Mesh, quads: &Quads) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    for quad in Quad::all(mesh, quads) {
        for (corner, vertex) in quad.vertices.iter().enumerate() {
            areas[*vertex as usize] += quad.corner_area(corner, &quad.corner(corner));
        }
    }
    areas
}
