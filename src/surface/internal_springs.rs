// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs of vertices for springs through the inside of a surface, as *Internal Springs* of Blender's cloth finds them: from each
//! vertex a ray against its normal, tilted at random by up to an angle, meets another triangle, of which the vertex nearest to that
//! point is the other end (Cords 2004, section 6.4, has inner springs for solid bodies).

use crate::{
    geometry::{Aabb, AabbTree},
    vec3::Vec3,
};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Which rays make springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InternalSprings {
    /// Longest spring, in m; infinite for any.
    pub max_length: f64,
    /// Largest angle between a ray and the reversed normal of its vertex, in rad.
    pub max_diversion: f64,
    /// Whether both ends have to have normals that point away from each other.
    pub checks_normals: bool,
}

/// Smallest distance of the triangle that a ray meets from its vertex, over the size of the surface. Evidence: none; a guard against
/// meeting the surface at the vertex itself.
const MIN_DISTANCE: f64 = 1.0e-6;

/// Pairs of vertices of a surface, the smaller one first, each once, in ascending order. Edges are left out.
#[must_use]
pub fn internal_springs(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    options: &InternalSprings,
) -> Vec<[u32; 2]> {
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| positions[vertex as usize]);
    let boxes: Vec<Aabb> =
        triangles.iter().map(|triangle| Aabb::from_points(&corners(triangle))).collect();
    let tree = AabbTree::new(&boxes);
    let bounds = Aabb::from_points(positions);
    let extent = (bounds.upper - bounds.lower).norm();
    let normals = vertex_normals(positions, triangles);
    let edges: BTreeSet<[u32; 2]> = triangles
        .iter()
        .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    let target = |vertex: usize| {
        let normal = normals[vertex];
        let ray = Ray {
            start: positions[vertex],
            direction: tilted(&-normal, options.max_diversion, vertex as u64)?,
            range: [MIN_DISTANCE * extent, options.max_length.min(2.0 * extent)],
        };
        let (triangle, place) = ray.first_triangle(positions, triangles, &tree)?;
        let [a, b, c] = corners(&triangles[triangle]);
        if options.checks_normals && (b - a).cross(&(c - a)).dot(&normal) > 0.0 {
            return None;
        }
        let nearest = triangles[triangle].into_iter().min_by(|one, other| {
            let [one, other] = [one, other].map(|end| (positions[*end as usize] - place).norm());
            one.total_cmp(&other)
        })?;
        let own = vertex as u32;
        let pair = [own.min(nearest), own.max(nearest)];
        (own != nearest && !edges.contains(&pair)).then_some(pair)
    };
    let found: Vec<Option<[u32; 2]>> = (0..positions.len()).into_par_iter().map(target).collect();
    found.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect()
}

/// A ray and the distances along it that count, in m.
struct Ray {
    start: Vec3,
    direction: Vec3,
    range: [f64; 2],
}

impl Ray {
    /// The first triangle that it meets, and where.
    fn first_triangle(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        tree: &AabbTree,
    ) -> Option<(usize, Vec3)> {
        let end = self.start + self.direction * self.range[1];
        let mut best: Option<(f64, usize)> = None;
        tree.for_each_overlapping(&Aabb::from_points([&self.start, &end]), |triangle| {
            let corners = triangles[triangle].map(|vertex| positions[vertex as usize]);
            if let Some(distance) = self.distance(&corners)
                && best.is_none_or(|best| (distance, triangle) < best)
            {
                best = Some((distance, triangle));
            }
        });
        best.map(|(distance, triangle)| (triangle, self.start + self.direction * distance))
    }

    /// Distance along the ray of a triangle, if it meets the triangle within the range (Möller and Trumbore 1997).
    fn distance(&self, [a, b, c]: &[Vec3; 3]) -> Option<f64> {
        let (along, across) = (b - a, c - a);
        let normal = self.direction.cross(&across);
        let volume = along.dot(&normal);
        if volume == 0.0 {
            return None;
        }
        let from = self.start - a;
        let first = from.dot(&normal) / volume;
        let turned = from.cross(&along);
        let second = self.direction.dot(&turned) / volume;
        let distance = across.dot(&turned) / volume;
        let is_inside = first >= 0.0 && second >= 0.0 && first + second <= 1.0;
        (is_inside && (self.range[0]..=self.range[1]).contains(&distance)).then_some(distance)
    }
}

/// Unit normals of vertices from the areas around them; 0 where they cancel.
fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::zeros(); positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize]);
        let area = (b - a).cross(&(c - a));
        for vertex in triangle {
            normals[*vertex as usize] += area;
        }
    }
    normals.iter().map(|n| n.try_normalize(0.0).unwrap_or_else(Vec3::zeros)).collect()
}

/// A unit vector at a random angle of up to `largest` in rad from a direction; the same for the same seed.
fn tilted(direction: &Vec3, largest: f64, seed: u64) -> Option<Vec3> {
    let axis = if direction.x.abs() < 0.5 { Vec3::x() } else { Vec3::y() };
    let first = direction.cross(&axis).try_normalize(0.0)?;
    let second = direction.cross(&first);
    let (turn, tilt) = (std::f64::consts::TAU * random(2 * seed), largest * random(2 * seed + 1));
    Some(direction * tilt.cos() + (first * turn.cos() + second * turn.sin()) * tilt.sin())
}

/// A number from 0 to 1 by the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn random(seed: u64) -> f64 {
    let mut bits = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}
