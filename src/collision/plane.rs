// SPDX-License-Identifier: MIT OR Apache-2.0
//! The planes that keep one vertex off moving solids.
//!
//! Cloth is on the side of a surface that it came from: sides are told by the way of the vertex through
//! the step, not by the winding of the faces, so that open surfaces work and both sides count.

use super::{
    ClosestOnTriangle, Path, closest_on_triangle, collider::Obstacle, point_triangle_impact,
};
use crate::Vec3;

/// A face: which collider, which triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Face {
    pub(crate) obstacle: u32,
    pub(crate) triangle: u32,
}

/// A face near a vertex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) face: Face,
    /// Distance from the vertex at the start of the step, in m.
    pub(crate) distance: f64,
}

impl Neighbour {
    /// Measures how far a face is at the start of the step.
    pub(crate) fn new(face: Face, obstacles: &[Obstacle], start: &Vec3) -> Self {
        let corners = obstacles[face.obstacle as usize].paths(face.triangle);
        let closest = closest_on_triangle(start, &corners.map(|path| path.start));
        Self { face, distance: closest.distance_squared.sqrt() }
    }
}

/// A plane that a vertex must stay in front of at the end of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    /// The face it belongs to.
    pub(crate) face: Face,
    /// Unit collision direction, towards the cloth.
    pub(crate) normal: Vec3,
    /// Way of the surface point below the vertex through the step, in m.
    pub(crate) motion: Vec3,
    /// Height of the surface along the normal at the end of the step, in m.
    pub(crate) height: f64,
    /// Distance that it is to keep, in m.
    pub(crate) thickness: f64,
}

impl Plane {
    /// Distance of a point from the surface along the normal at the end of the step, in m.
    pub(crate) fn gap(&self, point: &Vec3) -> f64 {
        self.normal.dot(point) - self.height
    }

    /// Whether another plane faces nearly the same way.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.normal.dot(&other.normal) > LIKE_NORMALS
    }
}

/// Up to three planes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Planes {
    members: [Option<Plane>; 3],
}

impl Planes {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Plane> {
        self.members.iter().flatten()
    }

    pub(crate) fn first(&self) -> Option<&Plane> {
        self.members[0].as_ref()
    }

    /// Adds a plane unless there are three, or one that faces nearly the same way.
    fn add(&mut self, plane: Plane) {
        let alike = self.iter().any(|known| known.is_like(&plane));
        if let (false, Some(free)) = (alike, self.members.iter_mut().find(|slot| slot.is_none())) {
            *free = Some(plane);
        }
    }

    /// Adds a plane, or puts it in the place of the one that faces nearly the same way. Says whether there
    /// was one.
    pub(crate) fn put(&mut self, plane: Plane) -> bool {
        let alike = self.members.iter_mut().flatten().find(|known| known.is_like(&plane));
        if let Some(known) = alike {
            *known = plane;
            return true;
        }
        self.add(plane);
        false
    }

    /// Keeps the planes that `wanted` says yes to.
    pub(crate) fn retain(&mut self, mut wanted: impl FnMut(&Plane) -> bool) {
        let mut kept = Self::default();
        for (slot, plane) in kept.members.iter_mut().zip(self.iter().filter(|plane| wanted(plane)))
        {
            *slot = Some(*plane);
        }
        *self = kept;
    }
}

/// Rounding of distances is far below this excess.
const CAUTION: f64 = 1.0 + 1.0e-9;
/// Less than this, in m, is no distance that rounding leaves alone.
const SMALLEST_THICKNESS: f64 = 1.0e-5;
/// Planes whose normals are closer than about 25 degrees are one: the nearest.
const LIKE_NORMALS: f64 = 0.9;

/// The faces that the way of a vertex crosses or comes near to.
pub(crate) struct Neighbourhood<'a> {
    pub(crate) obstacles: &'a [Obstacle],
    pub(crate) faces: &'a [Neighbour],
    /// Contact thickness of the cloth, in m.
    pub(crate) thickness: f64,
    /// Whether the vertex has been squeezed into a closed collider and is on its way out.
    pub(crate) is_lost: bool,
}

impl Neighbourhood<'_> {
    /// The planes of a vertex that goes along `path`: of the face it crosses first, or else of the faces
    /// that are at most twice the thickness away at the end, nearest first.
    pub(crate) fn planes(&self, path: &Path) -> Planes {
        if self.is_lost {
            return self.exit(&path.end);
        }
        let mut first: Option<(f64, Plane)> = None;
        let mut near: Vec<(f64, Plane)> = Vec::new();
        for neighbour in self.faces {
            let corners = self.paths(neighbour.face);
            let closest = closest_on_triangle(&path.end, &corners.map(|path| path.end));
            let gap = closest.distance_squared.sqrt();
            if let Some((time, plane)) = self.crossed(path, neighbour, &corners, gap) {
                if first.as_ref().is_none_or(|(earliest, _)| time < *earliest) {
                    first = Some((time, plane));
                }
            } else if gap <= 2.0 * self.thickness(neighbour.face) {
                let plane = self.near_plane(neighbour.face, &path.end, &corners, &closest);
                near.extend(plane.map(|plane| (gap, plane)));
            }
        }
        let mut planes = Planes::default();
        if let Some((_, plane)) = first {
            planes.add(plane);
            return planes;
        }
        near.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        for (_, plane) in near {
            planes.add(plane);
        }
        planes
    }

    /// Whether the way of a vertex crosses a face.
    pub(crate) fn is_crossed(&self, path: &Path) -> bool {
        let is_free = !self.is_lost;
        is_free
            && self.faces.iter().any(|neighbour| {
                let corners = self.paths(neighbour.face);
                let closest = closest_on_triangle(&path.end, &corners.map(|path| path.end));
                let gap = closest.distance_squared.sqrt();
                self.crossed(path, neighbour, &corners, gap).is_some()
            })
    }

    /// The plane out of a closed collider, where the vertex is at the end of the step.
    fn exit(&self, point: &Vec3) -> Planes {
        let mut planes = Planes::default();
        if let Some(plane) = self.nearest_outside(point) {
            planes.add(plane);
        }
        planes
    }

    /// How deep in closed colliders a point is at the end of the step, in m; negative outside, `None` far
    /// from any.
    pub(crate) fn depth(&self, point: &Vec3) -> Option<f64> {
        self.nearest_outside(point).map(|plane| -plane.gap(point))
    }

    /// The plane of the nearest face of closed colliders, with its normal outwards.
    fn nearest_outside(&self, point: &Vec3) -> Option<Plane> {
        let mut nearest: Option<(f64, f64, Plane)> = None;
        for neighbour in self.faces {
            if !self.obstacles[neighbour.face.obstacle as usize].is_closed {
                continue;
            }
            let corners = self.paths(neighbour.face);
            let closest = closest_on_triangle(point, &corners.map(|path| path.end));
            let Some(outwards) = normal(&corners, 1.0) else { continue };
            let (distance, side) = (closest.distance_squared.sqrt(), closest.offset.dot(&outwards));
            // At an edge both faces are as near; the one that is seen more squarely knows the side.
            let is_better = nearest.as_ref().is_none_or(|(known, known_side, _)| {
                let tie = 1.0e-9 * known;
                distance < known - tie || (distance <= known + tie && side.abs() > known_side.abs())
            });
            if is_better {
                let away = closest.offset.try_normalize(f64::MIN_POSITIVE).unwrap_or(outwards);
                let normal = away * if side < 0.0 { -1.0 } else { 1.0 };
                let motion = weighted(&corners, &closest.weights, |path| path.end - path.start);
                let height = (point - closest.offset).dot(&normal);
                let thickness = self.thickness(neighbour.face);
                let plane = Plane { face: neighbour.face, normal, motion, height, thickness };
                nearest = Some((distance, side, plane));
            }
        }
        nearest.map(|(_, _, plane)| plane)
    }

    /// Distance to the nearest face at the start of the step, in m.
    pub(crate) fn distance_at_start(&self) -> f64 {
        self.faces.iter().map(|neighbour| neighbour.distance).fold(f64::INFINITY, f64::min)
    }

    /// The way through the step of the surface point that is nearest to `start` at its start, in m.
    pub(crate) fn motion_at_start(&self, start: &Vec3) -> Option<Vec3> {
        let by_distance = |a: &&Neighbour, b: &&Neighbour| a.distance.total_cmp(&b.distance);
        let nearest = self.faces.iter().min_by(by_distance)?;
        let corners = self.paths(nearest.face);
        let closest = closest_on_triangle(start, &corners.map(|path| path.start));
        Some(weighted(&corners, &closest.weights, |path| path.end - path.start))
    }

    /// Distance to keep from a face: the thickness of both.
    fn thickness(&self, face: Face) -> f64 {
        let sum = self.thickness + self.obstacles[face.obstacle as usize].thickness;
        sum.max(SMALLEST_THICKNESS)
    }

    fn paths(&self, face: Face) -> [Path; 3] {
        self.obstacles[face.obstacle as usize].paths(face.triangle)
    }

    /// When a vertex crosses a face that is `gap` away at the end, and the plane of that.
    fn crossed(
        &self,
        path: &Path,
        neighbour: &Neighbour,
        corners: &[Path; 3],
        gap: f64,
    ) -> Option<(f64, Plane)> {
        // The distance changes by no more than they move relative to each other. It has to come down to 0
        // and up again, so where both distances together are more it cannot.
        let way = path.end - path.start;
        let relative = corners.iter().map(|corner| (corner.end - corner.start - way).norm());
        let farthest = relative.fold(0.0, f64::max);
        if neighbour.distance + gap > CAUTION * farthest {
            return None;
        }
        let impact = point_triangle_impact(path, corners, 0.0)?;
        let at = (impact.time, &impact.weights);
        let plane = self.crossed_plane(neighbour.face, path, corners, at)?;
        // A vertex that starts in the surface itself has not crossed it if it ends in front.
        let has_left = impact.time == 0.0 && plane.gap(&path.end) >= 0.0;
        (!has_left).then_some((impact.time, plane))
    }

    /// The plane at the end of the step of a face that is crossed at `time`, on the side the vertex came from.
    fn crossed_plane(
        &self,
        face: Face,
        path: &Path,
        corners: &[Path; 3],
        (time, weights): (f64, &[f64; 3]),
    ) -> Option<Plane> {
        let then = normal(corners, time)?;
        // Before the impact the vertex was on the side that it moves away from relative to the face. A
        // vertex that starts in the surface is taken to be in front.
        let before = path.start - weighted(corners, weights, |path| path.start);
        let towards =
            (path.end - path.start) - weighted(corners, weights, |path| path.end - path.start);
        let height = before.dot(&then);
        let extent = before.norm() + towards.norm();
        let side = if height.abs() > 1.0e-9 * extent { height } else { -towards.dot(&then) };
        let normal = normal(corners, 1.0)? * if side < 0.0 { -1.0 } else { 1.0 };
        let point = weighted(corners, weights, |path| path.end);
        let motion = weighted(corners, weights, |path| path.end - path.start);
        let height = point.dot(&normal);
        Some(Plane { face, normal, motion, height, thickness: self.thickness(face) })
    }

    /// The plane of a face that is near at the end of the step.
    fn near_plane(
        &self,
        face: Face,
        point: &Vec3,
        corners: &[Path; 3],
        closest: &ClosestOnTriangle,
    ) -> Option<Plane> {
        // A vertex in the surface itself is pushed out the way the face looks.
        let direction = closest.offset.try_normalize(f64::MIN_POSITIVE);
        let normal = direction.or_else(|| normal(corners, 1.0))?;
        let motion = weighted(corners, &closest.weights, |path| path.end - path.start);
        let height = (point - closest.offset).dot(&normal);
        Some(Plane { face, normal, motion, height, thickness: self.thickness(face) })
    }
}

/// Unit normal of a face at a time; `None` where it has no area.
fn normal(corners: &[Path; 3], time: f64) -> Option<Vec3> {
    let [a, b, c] = corners.map(|path| path.at(time));
    (b - a).cross(&(c - a)).try_normalize(f64::MIN_POSITIVE)
}

fn weighted(corners: &[Path; 3], weights: &[f64; 3], part: impl Fn(&Path) -> Vec3) -> Vec3 {
    corners.iter().zip(weights).map(|(path, weight)| part(path) * *weight).sum()
}
