// SPDX-License-Identifier: MIT OR Apache-2.0
//! Solids: moving triangle meshes that cloth must not pass through.

use super::{BoundingBox, BoundingTree, Path};
use crate::{
    Vec3,
    error::{Error, Result},
    mesh::check_positions,
};

/// A triangle mesh that moves as the caller says. It may be open, and it may intersect itself.
#[derive(Clone, Debug)]
pub struct Collider {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Coulomb coefficient of friction.
    pub(crate) friction: f64,
    /// Contact thickness, in m.
    pub(crate) thickness: f64,
}

impl Collider {
    /// A collider of `triangles` over `positions` in m.
    ///
    /// # Errors
    /// Names the vertex that is not finite, the triangle with an index that is no vertex, or a negative
    /// coefficient.
    pub fn new(
        positions: Vec<Vec3>,
        triangles: &[[usize; 3]],
        friction: f64,
        thickness: f64,
    ) -> Result<Self> {
        check_positions("positions", &positions)?;
        if triangles.is_empty() {
            return Err(Error::value("triangles", "no triangles", "one triangle or more"));
        }
        for (index, corners) in triangles.iter().enumerate() {
            if let Some(vertex) = corners.iter().find(|vertex| **vertex >= positions.len()) {
                let wanted = format!("an index below the {} vertices", positions.len());
                let found = format!("vertex {vertex}");
                return Err(Error::element("triangles", "triangle", index, found, wanted));
            }
        }
        for (name, value) in [("friction", friction), ("thickness", thickness)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::value(name, value, "a finite number, 0 or more"));
            }
        }
        let triangles =
            triangles.iter().map(|corners| corners.map(|vertex| vertex as u32)).collect();
        Ok(Self { positions, triangles, friction, thickness })
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }
}

/// A collider on its way through a frame, and through a step of it.
#[derive(Clone, Debug)]
pub(crate) struct Obstacle {
    pub(crate) friction: f64,
    pub(crate) thickness: f64,
    /// Whether the surface has an inside: every edge has two triangles, wound alike.
    pub(crate) is_closed: bool,
    triangles: Vec<[u32; 3]>,
    frame: [Vec<Vec3>; 2],
    step: [Vec<Vec3>; 2],
    fractions: [f64; 2],
    boxes: Vec<BoundingBox>,
    tree: BoundingTree,
}

impl Obstacle {
    pub(crate) fn new(collider: &Collider) -> Self {
        let positions = &collider.positions;
        let boxes: Vec<BoundingBox> = collider
            .triangles
            .iter()
            .map(|corners| swept_box(corners, positions, positions))
            .collect();
        Self {
            friction: collider.friction,
            thickness: collider.thickness,
            is_closed: is_closed(&collider.triangles),
            triangles: collider.triangles.clone(),
            frame: [positions.clone(), positions.clone()],
            step: [positions.clone(), positions.clone()],
            fractions: [0.0, 0.0],
            tree: BoundingTree::new(&boxes),
            boxes,
        }
    }

    /// Positions to reach at the end of the frame that begins.
    pub(crate) fn set_target(&mut self, positions: Vec<Vec3>) {
        self.frame[1] = positions;
    }

    /// Positions at the start and at the end of the frame, in m.
    pub(crate) fn frame(&self) -> &[Vec<Vec3>; 2] {
        &self.frame
    }

    /// Takes the way of a frame from a checkpoint.
    pub(crate) fn set_frame(&mut self, frame: [Vec<Vec3>; 2]) {
        self.frame = frame;
        self.fractions = [f64::NAN; 2];
        self.set_step(0.0, 0.0);
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.frame[0].len()
    }

    /// The frame has ended when it had come to `part` of itself; the next one starts there.
    pub(crate) fn end_frame(&mut self, part: f64) {
        let [start, end] = &mut self.frame;
        for (start, end) in start.iter_mut().zip(end) {
            if part < 1.0 {
                *end = *start + (*end - *start) * part;
            }
            *start = *end;
        }
        self.fractions = [f64::NAN; 2];
    }

    /// Goes from `start` to `end`, parts of the frame from 0 to 1.
    pub(crate) fn set_step(&mut self, start: f64, end: f64) {
        if self.fractions.map(f64::to_bits) == [start, end].map(f64::to_bits) {
            return;
        }
        self.fractions = [start, end];
        for (step, part) in self.step.iter_mut().zip([start, end]) {
            for (index, position) in step.iter_mut().enumerate() {
                let (from, to) = (self.frame[0][index], self.frame[1][index]);
                // Exact where nothing moves.
                *position = from + (to - from) * part;
            }
        }
        for (bounds, corners) in self.boxes.iter_mut().zip(&self.triangles) {
            *bounds = swept_box(corners, &self.step[0], &self.step[1]);
        }
        self.tree.refit(&self.boxes);
    }

    /// Calls `found` for every triangle whose way through the step comes into `bounds`.
    pub(crate) fn triangles_near(&self, bounds: &BoundingBox, mut found: impl FnMut(u32)) {
        self.tree.for_each_overlap(bounds, |triangle| found(triangle as u32));
    }

    /// The ways of a triangle's corners through the step.
    pub(crate) fn paths(&self, triangle: u32) -> [Path; 3] {
        self.triangles[triangle as usize].map(|vertex| Path {
            start: self.step[0][vertex as usize],
            end: self.step[1][vertex as usize],
        })
    }
}

/// Whether every edge is run along once in each direction.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let sides = triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
    let mut there: Vec<[u32; 2]> = sides.collect();
    let mut back: Vec<[u32; 2]> = there.iter().map(|[a, b]| [*b, *a]).collect();
    there.sort_unstable();
    back.sort_unstable();
    there == back && there.iter().zip(&there[1..]).all(|(side, next)| side != next)
}

fn swept_box(corners: &[u32; 3], start: &[Vec3], end: &[Vec3]) -> BoundingBox {
    let ends = |vertex: &u32| [&start[*vertex as usize], &end[*vertex as usize]];
    BoundingBox::around(corners.iter().flat_map(ends))
}
