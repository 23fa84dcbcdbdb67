// SPDX-License-Identifier: MIT OR Apache-2.0
//! What crosses when a step begins, what draws it apart, and what is let go.

use super::Response;
use crate::{
    Vec3,
    collision::{Crossing, crosses},
    surface::Surfaces,
    untangling::{Loose, Tangle, part, touches},
};

impl Response {
    /// Finds what crosses, what draws it apart, and what is let go.
    pub(crate) fn untangle(&mut self) {
        self.tangle = self.memory.crossed_for.and_then(|_| self.find_tangle());
        self.loose = if self.memory.was_led_across {
            Loose::new(&self.surfaces, &self.starts)
        } else {
            Loose::default()
        };
        self.draw_apart();
    }

    /// Parts what coincides before the first step, with the cloths' vertices at `positions` in m.
    pub(crate) fn part(&mut self, positions: &mut [Vec3]) {
        if self.is_alone() {
            return;
        }
        let touches = touches(&self.surfaces, &self.starts);
        let touching = self.broad_phase.touching(self.with_self, touches);
        let crossings = self.crossings();
        if !(touching.is_empty() && crossings.is_empty()) {
            part(&self.surfaces, &mut self.starts, (&crossings, &touching));
            positions.copy_from_slice(&self.starts[..positions.len()]);
        }
    }

    /// All edges that go through triangles where the step begins, in order.
    fn crossings(&self) -> Vec<Crossing> {
        let (surfaces, starts) = (&self.surfaces, &self.starts);
        let crosses = |crossing| crosses(surfaces, starts, crossing);
        let mut crossings = self.broad_phase.crossings(self.with_self, crosses);
        crossings.sort_unstable();
        crossings
    }

    fn find_tangle(&self) -> Option<Tangle> {
        let (surfaces, starts) = (&self.surfaces, &self.starts);
        let crossings = self.crossings();
        let may_be = !crossings.is_empty() || !surfaces.insiders.is_empty();
        may_be.then(|| Tangle::new(surfaces, starts, crossings)).filter(|tangle| !tangle.is_empty())
    }

    fn draw_apart(&mut self) {
        self.pulls.clear();
        self.returns.clear();
        let Some(tangle) = &self.tangle else { return };
        let times = [self.duration, self.memory.crossed_for.unwrap_or_default()];
        self.pulls = tangle.pulls(&self.surfaces, &self.starts, times);
        self.returns = tangle.returns(&self.surfaces, &self.starts, times);
        for drawn in [&mut self.pulls, &mut self.returns] {
            drawn.retain(|contact| !self.loose.frees(&self.surfaces, &contact.pair));
        }
    }

    /// The ends of all edges of cloth, each with a triangle beside it.
    pub(crate) fn cloth_edges(&self) -> impl Iterator<Item = ([u32; 2], usize)> {
        let Surfaces { edges, wings, cloth_edges, .. } = &self.surfaces;
        let pairs = edges.iter().zip(wings).take(*cloth_edges);
        pairs.map(|(ends, wings)| (*ends, wings.owner as usize))
    }

    /// Takes factors on the undeformed lengths of these; none where all are 1.
    pub(crate) fn set_length_scales(&mut self, scales: Vec<f64>) {
        self.surfaces.length_scales = scales;
    }

    /// Which cloths belong inside of which bodies: see [`Surfaces::insiders`].
    pub(crate) fn insiders(&self) -> &[[u32; 2]] {
        &self.surfaces.insiders
    }

    pub(crate) fn set_insiders(&mut self, insiders: Vec<[u32; 2]>) {
        self.surfaces.insiders = insiders;
    }

    /// Whether these can belong inside of these bodies.
    pub(crate) fn insiders_fit(&self, insiders: &[[u32; 2]]) -> bool {
        let Surfaces { cloth_count, .. } = self.surfaces;
        let is_solid = |body: u32| {
            (body as usize) < self.surfaces.body_count() && self.surfaces.is_solid(body)
        };
        insiders.iter().all(|[cloth, body]| (*cloth as usize) < cloth_count && is_solid(*body))
    }

    /// Edges that go through triangles when the step begins.
    pub(crate) fn crossing_count(&self) -> usize {
        self.tangle.as_ref().map_or(0, |tangle| tangle.crossings.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        response::collider_motion::Obstacle,
        scene::Collider,
        surface::{ClothSurfaces, Exclusions, Surface},
    };

    /// A large triangle of cloth that lies on a collider, and a strip that lies on it with three vertices and has the fourth at
    /// a height in m: friction of the cloths on each other, and of the first on the collider.
    fn frictions(height: f64) -> [Vec<f64>; 2] {
        let wide = [[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]];
        let strip =
            [[0.0, 0.0, 5.0e-4], [1.0, 0.0, 5.0e-4], [0.0, 1.0, 5.0e-4], [1.0, 1.0, height]];
        let starts: Vec<Vec3> = wide.into_iter().chain(strip).map(Vec3::from).collect();
        let cloths = ClothSurfaces {
            triangles: &[[0, 1, 2], [3, 4, 5], [4, 6, 5]],
            starts: &[0, 3, 7],
            kinds: vec![Surface { friction: 0.5, thickness: 1.0e-3 }; 2],
            rest: starts.clone().into(),
            areas: vec![0.01; starts.len()].into(),
            seams: &[],
            exclusions: Exclusions::default(),
            friction_scale: Vec::new(),
        };
        let below = [[-9.5, -9.5], [-8.0, -9.5], [-9.5, -8.0]];
        let below = below.map(|[x, y]| Vec3::new(x, y, -5.0e-4)).to_vec();
        let ground = Collider::new(below, &[[0, 1, 2]], 0.5, 1.0e-3).unwrap();
        let surfaces = Surfaces::new(cloths, std::slice::from_ref(&ground));
        let mut response = Response::new(surfaces, vec![Obstacle::new(&ground)], &starts, true);
        response.begin((&starts, &starts), &[false; 7], ([0.0, 1.0], 0.01));
        response.start(&starts);
        let of_ground = |is_wanted: bool| {
            let contacts = response.contacts().iter();
            let wanted = contacts
                .filter(|one| one.pair.vertices.iter().any(|vertex| *vertex >= 7) == is_wanted);
            wanted.map(|contact| contact.friction).collect()
        };
        [false, true].map(of_ground)
    }

    #[test]
    fn cloths_that_cross_each_other_slide_without_friction() {
        let are_all = |list: &[f64], friction: f64| {
            assert!(
                !list.is_empty() && list.iter().all(|own| (own - friction).abs() < 1e-12),
                "{list:?}"
            );
        };
        for (height, friction) in [(0.5, 0.5), (-0.5, 0.0)] {
            let [on_cloth, on_ground] = frictions(height);
            are_all(&on_cloth, friction);
            are_all(&on_ground, 0.5);
        }
    }
}
