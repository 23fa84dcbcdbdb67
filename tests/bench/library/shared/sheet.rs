// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sheets of 1 m in quads, and how their vertices are numbered.

use weft::{
    Cloth, Material, Vec3,
    linear_solver::Ordering,
    mesh::{Mesh, Polygons},
};

/// How the vertices of a sheet are numbered; or a pile of four sheets on the ground instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    Rows,
    Patches,
    Shuffled,
    Pile,
}

/// A flat sheet.
pub(crate) struct Sheet {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) polygons: Polygons,
    /// Two neighbouring corners.
    pub(crate) pins: [usize; 2],
}

impl Sheet {
    /// A sheet of `side` × `side` vertices; of a pile the one at a `layer`.
    pub(crate) fn new(side: usize, order: Order, layer: usize) -> Self {
        let mut quads = quads(side);
        let places = places(side, order, &quads);
        for corner in quads.iter_mut().flatten() {
            *corner = places[*corner];
        }
        if matches!(order, Order::Patches | Order::Pile) {
            quads.sort_by_key(|corners| *corners.iter().min().unwrap_or(&0));
        }
        let mut positions = vec![Vec3::zeros(); side * side];
        for (vertex, place) in places.iter().enumerate() {
            let part = |index: usize| index as f64 / (side - 1) as f64;
            let flat = Vec3::new(part(vertex % side), part(vertex / side), 0.0);
            positions[*place] = if order == Order::Pile { piled(&flat, layer) } else { flat };
        }
        let corners: Vec<usize> = quads.into_iter().flatten().collect();
        let polygons = Polygons::new(&vec![4; corners.len() / 4], &corners, side * side);
        let pins = [places[0], places[side - 1]];
        Self { positions, polygons: polygons.expect("sound quads"), pins }
    }

    /// A cloth of the default material.
    pub(crate) fn cloth(&self) -> Cloth {
        let positions = self.positions.clone();
        Cloth::new(positions, &self.polygons, Material::default(), None, None)
            .expect("a sound sheet")
    }

    /// The mesh with its vertices shifted off the grid, and a wavy shape of it.
    pub(crate) fn wavy(&self) -> (Mesh, Vec<Vec3>) {
        let step = 1.0 / (self.positions.len() as f64).sqrt();
        let shifted = |(n, x): (usize, &Vec3)| {
            let shift = |phase: f64| 0.3 * step * (n as f64 * phase).sin();
            x + Vec3::new(shift(12.9898), shift(78.233), 0.0)
        };
        let rest: Vec<Vec3> = self.positions.iter().enumerate().map(shifted).collect();
        (Mesh::new(&self.polygons, &rest, None).expect("a sound sheet"), bent(&rest))
    }
}

/// Waves across a flat sheet.
pub(crate) fn bent(flat: &[Vec3]) -> Vec<Vec3> {
    let height = |x: &Vec3| 0.05 * (7.0 * x.x + 3.0 * x.y).sin() + 0.02 * (31.0 * x.y).sin();
    flat.iter().map(|x| Vec3::new(x.x, x.y, height(x))).collect()
}

fn quads(side: usize) -> Vec<[usize; 4]> {
    let corner = |n: usize| n % (side - 1) + side * (n / (side - 1));
    let corners = (0..(side - 1) * (side - 1)).map(corner);
    corners.map(|a| [a, a + 1, a + 1 + side, a + side]).collect()
}

/// Where a vertex of a sheet lies in a pile of turned sheets.
fn piled(flat: &Vec3, layer: usize) -> Vec3 {
    let (sine, cosine) = (0.3 * layer as f64).sin_cos();
    let at = flat - Vec3::new(0.5, 0.5, 0.0);
    let height = 0.002 + 0.0021 * layer as f64;
    Vec3::new(cosine * at.x - sine * at.y, sine * at.x + cosine * at.y, height)
}

/// Where each vertex of the grid comes in an order.
fn places(side: usize, order: Order, quads: &[[usize; 4]]) -> Vec<usize> {
    let count = side * side;
    let mut places: Vec<usize> = (0..count).collect();
    match order {
        Order::Rows => (),
        Order::Patches | Order::Pile => {
            let sides = quads.iter().flat_map(|[a, b, c, d]| [[a, b], [b, c], [c, d], [d, a]]);
            let edges: Vec<[u32; 2]> =
                sides.map(|edge| edge.map(|vertex| *vertex as u32)).collect();
            let ordering = Ordering::new(count, &edges);
            places = (0..count).map(|vertex| ordering.row(vertex)).collect();
        }
        Order::Shuffled => {
            // Multiplying by a number without a common factor permutes.
            let stride =
                (count * 5 / 13..count).find(|stride| gcd(*stride, count) == 1).unwrap_or(1);
            for (vertex, place) in places.iter_mut().enumerate() {
                *place = vertex * stride % count;
            }
        }
    }
    places
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
