// SPDX-License-Identifier: MIT OR Apache-2.0
//! Probes from cloth vertices to both sides, for surfaces of colliders that pinch them.

use super::{FLYPAPERING, Pinch, PinchedVertex};
use crate::{
    collision::{BroadPhase, ContactHistory, PrimitivePair},
    geometry::{SweptAabb, SweptBvh, Trajectory, point_triangle_ccd, segment_intersects_triangle},
    response::step_geometry::StepGeometry,
    surface::{CollisionMesh, Configuration, SurfacePoint, vertex_normal},
    vec3::Vec3,
};
use rayon::prelude::*;

/// Segments from a cloth vertex along the direction of its contact and against it.
#[derive(Clone, Debug)]
struct Probe {
    vertex: u32,
    /// Unit direction.
    direction: Vec3,
    /// Layers of cloth that the segments allow for.
    layer_count: usize,
}

/// Direction of a contact that presses on a vertex.
struct PressingDirection {
    vertex: u32,
    /// Normal force, in N.
    force: f64,
    /// Unit vector.
    direction: Vec3,
}

/// Triangles that a probe meets.
#[derive(Clone, Debug, Default)]
struct ProbeHits {
    colliders: Vec<u32>,
    cloths: Vec<u32>,
}

/// Search for the vertices that a step pinches.
pub(super) struct PinchSearch<'a> {
    pub(super) step: &'a StepGeometry,
    pub(super) mesh: &'a CollisionMesh,
    pub(super) broad_phase: &'a BroadPhase,
}

impl<'a> PinchSearch<'a> {
    /// Vertices that the step pinches, but those held already.
    pub(super) fn newly_pinched(&self, held: &[Pinch], history: &ContactHistory) -> Vec<Pinch> {
        let mut probes = self.probes(held, history);
        let mut found = Vec::new();
        while !probes.is_empty() {
            let hits = self.cast(&probes);
            let mut longer = Vec::new();
            for (probe, hits) in probes.into_iter().zip(hits) {
                let layer_count = 1 + hits.cloths.len();
                if layer_count > probe.layer_count {
                    longer.push(Probe { layer_count, ..probe });
                } else {
                    found.extend(self.pinched_by(&probe, &hits));
                }
            }
            probes = longer;
        }
        found
    }

    /// All vertices at the start of the step.
    fn start(&self) -> Configuration<'a> {
        self.step.start(self.mesh)
    }

    /// Probes from all free vertices: along the contact that pressed most at the end of the last step, else along the
    /// normal of the cloth.
    fn probes(&self, held: &[Pinch], history: &ContactHistory) -> Vec<Probe> {
        let start = self.start();
        let is_held =
            |vertex: u32| held.binary_search_by_key(&vertex, |one| one.state.vertex).is_ok();
        let is_free = |vertex: &u32| {
            self.step.is_free(*vertex) && self.mesh.has_triangles(*vertex) && !is_held(*vertex)
        };
        let pressing = self.pressing_directions(history);
        let probe = |vertex: u32| {
            let found = pressing.binary_search_by_key(&vertex, |one| one.vertex);
            let direction = found
                .map_or_else(|_| vertex_normal(start, vertex), |index| pressing[index].direction);
            Probe { vertex, direction, layer_count: 1 }
        };
        let vertices = (0..self.mesh.cloth_vertex_count as u32).into_par_iter();
        vertices.filter(is_free).map(probe).collect()
    }

    /// Direction of the contact that pressed most at the end of the last step, for each vertex of cloth that had one, in
    /// ascending order.
    fn pressing_directions(&self, history: &ContactHistory) -> Vec<PressingDirection> {
        let mut found = Vec::new();
        for (kind, features, force) in history.pressing_pairs() {
            let pair = PrimitivePair::of_features(self.mesh, kind, features);
            let Some(direction) = pair.direction(&self.step.start_positions) else { continue };
            let cloth = pair.vertices.into_iter().filter(|vertex| self.mesh.is_cloth(*vertex));
            found.extend(cloth.map(|vertex| PressingDirection { vertex, force, direction }));
        }
        let by_force = |a: &PressingDirection, b: &PressingDirection| b.force.total_cmp(&a.force);
        found.sort_by(|a, b| a.vertex.cmp(&b.vertex).then(by_force(a, b)));
        found.dedup_by_key(|one| one.vertex);
        found
    }

    /// Largest contact thickness of a collider, in m.
    fn max_collider_thickness(&self) -> f64 {
        let colliders = &self.mesh.surface_properties[self.mesh.cloth_vertex_count..];
        colliders.iter().map(|surface| surface.thickness).fold(0.0, f64::max)
    }

    fn thickness(&self, vertex: u32) -> f64 {
        self.mesh.surface_properties[vertex as usize].thickness
    }

    /// Triangles that each probe meets at the start of the step, and triangles of colliders that its tips meet during
    /// the step.
    fn cast(&self, probes: &[Probe]) -> Vec<ProbeHits> {
        let thickness = self.max_collider_thickness();
        let trajectories: Vec<[Trajectory; 3]> =
            probes.iter().map(|probe| self.probe_trajectories(probe, thickness)).collect();
        let boxes: Vec<SweptAabb> = trajectories
            .iter()
            .map(|ends| SweptAabb::from_trajectories(ends.iter().map(|one| (&one.start, &one.end))))
            .collect();
        let mut hits = vec![ProbeHits::default(); probes.len()];
        let meets = |[probe, triangle]: [u32; 2]| {
            self.meets(&probes[probe as usize], &trajectories[probe as usize], triangle)
        };
        let boxes = SweptBvh::new(&boxes);
        let found = self.broad_phase.overlapping_triangles(&boxes, meets);
        for [probe, triangle] in found {
            let ProbeHits { colliders, cloths } = &mut hits[probe as usize];
            let is_collider = triangle as usize >= self.mesh.cloth_triangle_count;
            if is_collider { colliders } else { cloths }.push(triangle);
        }
        hits
    }

    /// Trajectories of a probe's vertex and of both its tips: as far from it as its layers need between colliders of a
    /// thickness in m.
    fn probe_trajectories(&self, probe: &Probe, collider_thickness: f64) -> [Trajectory; 3] {
        let vertex = probe.vertex as usize;
        let cloth_thickness = self.thickness(probe.vertex) * probe.layer_count as f64;
        let reach = probe.direction * (2.0 * (collider_thickness + cloth_thickness));
        [Vec3::zeros(), reach, -reach].map(|offset| Trajectory {
            start: self.step.start_positions[vertex] + offset,
            end: self.step.end_positions[vertex] + offset,
        })
    }

    fn meets(&self, probe: &Probe, [_, tip, other]: &[Trajectory; 3], triangle: u32) -> bool {
        let start = self.start();
        let corners = self.mesh.triangles[triangle as usize];
        if corners.contains(&probe.vertex) || self.mesh.is_alternative_triangle(triangle) {
            return false;
        }
        if segment_intersects_triangle(&other.start, &tip.start, &start.triangle_corners(triangle))
        {
            return true;
        }
        let corners = corners.map(|vertex| Trajectory {
            start: self.step.start_positions[vertex as usize],
            end: self.step.end_positions[vertex as usize],
        });
        triangle as usize >= self.mesh.cloth_triangle_count
            && [tip, other].iter().any(|tip| point_triangle_ccd(tip, &corners, 0.0).is_some())
    }

    /// A probe's vertex, if the closest surfaces on both its sides face each other and leave too little room for it.
    fn pinched_by(&self, probe: &Probe, hits: &ProbeHits) -> Option<Pinch> {
        let points = self.opposing_points(probe, &hits.colliders)?;
        let layers = points.each_ref().map(|point| self.layers_before(probe, point, &hits.cloths));
        let required = |index: usize| {
            let own = self.thickness(probe.vertex);
            let corner = self.mesh.triangles[points[index].triangle as usize][0];
            self.thickness(corner) + own * (1 + 2 * layers[index]) as f64
        };
        let state = PinchedVertex {
            vertex: probe.vertex,
            is_held: false,
            triangles: points.map(|one| one.triangle),
            sides: points.map(|one| one.side),
            required_heights: [required(0), required(1)],
        };
        Pinch::new(state, points, [self.start(), self.step.end(self.mesh)])
            .filter(|pinch| pinch.room < 1.0)
    }

    /// Closest points on both sides of a probe whose surfaces face it and each other.
    fn opposing_points(&self, probe: &Probe, colliders: &[u32]) -> Option<[SurfacePoint; 2]> {
        let start = self.start();
        let vertex = start.position(probe.vertex);
        let points = colliders.iter().filter_map(|triangle| {
            let mut point = SurfacePoint::closest(start, *triangle, 1.0, &vertex);
            let normal = start.triangle_normal(point.triangle)?;
            let height = (vertex - point.position(start)).dot(&normal);
            if height < 0.0 && !self.mesh.is_solid(self.mesh.body_of_triangle(point.triangle)) {
                point.side = -1.0;
            }
            (height * point.side >= 0.0).then_some((point, normal * point.side, height.abs()))
        });
        let points: Vec<(SurfacePoint, Vec3, f64)> = points.collect();
        let closest = |sign: f64| {
            let on_side = points.iter().filter(|one| one.1.dot(&probe.direction) * sign > 0.0);
            on_side.min_by(|a, b| a.2.total_cmp(&b.2))
        };
        let (first, second) = (closest(1.0)?, closest(-1.0)?);
        let do_face = first.1.dot(&second.1) < FLYPAPERING.max_normal_cosine;
        do_face.then_some([first.0, second.0])
    }

    /// Number of layers of cloth between a probe's vertex and a surface point at the start of the step.
    fn layers_before(&self, probe: &Probe, point: &SurfacePoint, cloths: &[u32]) -> usize {
        let start = self.start();
        let [from, to] = [start.position(probe.vertex), point.position(start)];
        let is_between = |triangle: &&u32| {
            segment_intersects_triangle(&from, &to, &start.triangle_corners(**triangle))
        };
        cloths.iter().filter(is_between).count()
    }
}
