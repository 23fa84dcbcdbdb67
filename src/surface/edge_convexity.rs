// SPDX-License-Identifier: MIT OR Apache-2.0
//! Convexity of edges, and the edge pairs that are redundant because of it.

use super::configuration::Configuration;
use crate::mesh::NO_INDEX;

/// Parameters of redundant edge pairs.
struct EdgeConvexityParameters {
    /// Largest drop of a flat surface (contact thicknesses). Edges of a surface that drops farther
    /// are in contact; what they lack until then is a jump of the force, which keeps cloth on the
    /// surface from coming to rest. Effect: larger leaves out more edge pairs; smaller fewer.
    /// Evidence: rest scene `friction_on_cloth` (acceleration 2.23 instead of 3.14 to 3.27 m/s² at
    /// 0).
    max_flat_drop: f64,
}

impl EdgeConvexityParameters {
    const DEFAULT: Self = Self { max_flat_drop: 0.02 };
}

/// Extent of the flat surface around an edge.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EdgeConvexity {
    /// Length of the edge, in m.
    length: f64,
    /// Distance from the edge up to which the surface is flat, in m; 0 at folds and borders.
    flat_distance: f64,
}

impl EdgeConvexity {
    /// Whether contacts of vertices and triangles already separate two surfaces whose edges cross.
    /// They do where both are flat, and where one is flat for the whole length of the other edge:
    /// over a plane a straight edge is lowest at one of its ends.
    pub(crate) fn is_redundant_with(&self, other: &Self) -> bool {
        let are_flat = self.flat_distance > 0.0 && other.flat_distance > 0.0;
        are_flat || self.flat_distance >= other.length || other.flat_distance >= self.length
    }
}

impl Configuration<'_> {
    /// Convexity of the surface at an edge.
    pub(crate) fn edge_convexity(self, edge: u32) -> EdgeConvexity {
        let [start, end] = self.edge_ends(edge);
        let along = end - start;
        let length = along.norm();
        let [left, right] = self.mesh.edge_adjacency[edge as usize].opposite_vertices;
        if right == NO_INDEX {
            return EdgeConvexity { length, flat_distance: 0.0 };
        }
        let normals = [left, right].map(|vertex| along.cross(&(self.position(vertex) - start)));
        // Both have the same sign where the triangles fold over.
        let cosine = -normals[0].dot(&normals[1]);
        let sine = normals[0].cross(&normals[1]).norm();
        let first_vertex = self.mesh.edges[edge as usize][0];
        let thickness = self.mesh.surface_properties[first_vertex as usize].thickness;
        let max_drop = 2.0 * EdgeConvexityParameters::DEFAULT.max_flat_drop * thickness;
        let is_flat = cosine > 0.0 && 0.5 * length * sine < max_drop * cosine;
        let heights = normals.map(|normal| normal.norm() / length);
        let flat_distance = if is_flat { 0.5 * heights[0].min(heights[1]) } else { 0.0 };
        EdgeConvexity { length, flat_distance }
    }
}
