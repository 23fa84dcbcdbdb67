// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contacts of all cloth vertices with all colliders, through the corrections of a step.
//!
//! Before a correction [`Response::update`] looks where the vertices have come to: those that have crossed a
//! face or come closer than the thickness are constrained, those that their constraint pulls are
//! released (Etzmuss 2002, section 4.4). The way of every vertex through the step is checked
//! against every face it might meet with continuous detection, so speed is no way through. A vertex that
//! starts within the thickness is moved out gradually (Etzmuss 2002, eq. 4.4).

use super::{
    BoundingBox, Path,
    collider::Obstacle,
    contact::{Contact, Friction},
    plane::{Face, Neighbour, Neighbourhood, Plane, Planes},
};
use crate::{Vec3, parallel};
use nalgebra::Matrix3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Contact properties of a vertex's cloth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    pub(crate) friction: f64,
    pub(crate) thickness: f64,
}

/// A vertex that was in contact in the last step, and how it was left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    vertex: u32,
    /// Way from the anchor in the surface, in m.
    shear: Vec3,
    /// Normal force, in N; 0 where the contact has been released.
    force: f64,
    /// Whether it is still held.
    goes_on: bool,
}

/// What is remembered of the contacts from one step to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// In order of vertices.
    held: Vec<Held>,
    /// Vertices that have been squeezed into a closed collider, in order.
    lost: Vec<u32>,
}

impl Memory {
    /// Number of contacts that go on.
    pub(crate) fn contact_count(&self) -> usize {
        self.held.iter().filter(|held| held.goes_on).count()
    }

    /// Whether all vertices are among `vertex_count`.
    pub(crate) fn fits(&self, vertex_count: usize) -> bool {
        let held = self.held.iter().map(|held| held.vertex);
        held.chain(self.lost.iter().copied()).all(|vertex| (vertex as usize) < vertex_count)
    }
}

/// What a constraint asks of a vertex.
pub(crate) struct Constraint {
    pub(crate) vertex: usize,
    /// Projector onto the free directions.
    pub(crate) projector: Matrix3<f64>,
}

/// What a contact makes of the velocity at the end of a step.
pub(crate) struct Outcome {
    pub(crate) vertex: usize,
    /// Projector onto the directions that the contact left free.
    pub(crate) free: Matrix3<f64>,
    /// Velocity of the surface, in m/s.
    pub(crate) surface_velocity: Vec3,
    /// Whether the vertex hit in this step.
    pub(crate) is_new: bool,
}

/// Time in s over which a vertex that starts within the thickness is moved out.
const APPROACH_TIME: f64 = 0.1;
/// A vertex that is expected closer than this part of the thickness is put into contact.
const CLOSE: f64 = 0.99;
/// One that comes closer than this part during the corrections is, too; between the two it waits for the next step.
const TOO_CLOSE: f64 = 0.5;
/// A vertex that was squeezed into a collider finds its way out from no deeper than this, in m.
const EXIT_REACH: f64 = 0.1;
/// Faces that a vertex is put in front of, one after the other, to keep its way from crossing any.
const MOST_WAYS_OUT: usize = 8;
/// Planes of neighbouring faces that a vertex may go over to in one step.
const MOST_REPLACEMENTS: u8 = 3;

/// The contacts of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    obstacles: Vec<Obstacle>,
    /// One for each vertex.
    surfaces: Vec<Surface>,
    /// Where vertices were when the step began.
    starts: Vec<Vec3>,
    /// Vertices that are held anyway and see no contact.
    is_held: Vec<bool>,
    faces: Vec<Neighbour>,
    /// For each vertex its part of `faces`, and the box in which that is complete.
    watches: Vec<Watch>,
    contacts: Vec<Contact>,
    memory: Memory,
    /// Flags of `memory.lost`.
    is_lost: Vec<bool>,
    duration: f64,
    /// Farthest that a vertex gets from its anchor, in m.
    slip_length: f64,
}

#[derive(Clone, Copy, Debug)]
struct Watch {
    faces: (u32, u32),
    valid: BoundingBox,
}

impl Response {
    pub(crate) fn new(obstacles: Vec<Obstacle>, surfaces: Vec<Surface>, slip_length: f64) -> Self {
        Self {
            obstacles,
            starts: Vec::new(),
            is_held: vec![false; surfaces.len()],
            faces: Vec::new(),
            watches: Vec::new(),
            contacts: Vec::new(),
            memory: Memory::default(),
            is_lost: vec![false; surfaces.len()],
            duration: 0.0,
            slip_length,
            surfaces,
        }
    }

    pub(crate) fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    pub(crate) fn obstacles_mut(&mut self) -> &mut [Obstacle] {
        &mut self.obstacles
    }

    pub(crate) fn set_surface(&mut self, vertices: std::ops::Range<usize>, surface: Surface) {
        self.surfaces[vertices].fill(surface);
    }

    /// Vertices in contact when the last step ended, for a checkpoint.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn set_memory(&mut self, memory: Memory) {
        self.is_lost.fill(false);
        for vertex in &memory.lost {
            self.is_lost[*vertex as usize] = true;
        }
        self.memory = memory;
    }

    /// Begins a step from `starts`, on which the vertices are expected to come to `expected`, in `duration`.
    /// Colliders have been set to the step. Gives the vertices in contact before.
    pub(crate) fn begin(
        &mut self,
        starts: &[Vec3],
        expected: &[Vec3],
        is_held: &[bool],
        duration: f64,
    ) {
        self.duration = duration;
        self.starts.clear();
        self.starts.extend_from_slice(starts);
        self.is_held.clear();
        self.is_held.extend_from_slice(is_held);
        self.contacts.clear();
        self.faces.clear();
        self.watches.clear();
        if self.obstacles.is_empty() {
            return;
        }
        let found = self.look(0..starts.len(), expected);
        for (watch, faces) in found {
            let watch = self.append(watch, &faces);
            self.watches.push(watch);
        }
    }

    /// Looks for the faces that vertices may meet on their way to `expected`.
    fn look(
        &self,
        vertices: std::ops::Range<usize>,
        expected: &[Vec3],
    ) -> Vec<(Watch, Vec<Neighbour>)> {
        let each = vertices.into_par_iter().with_min_len(parallel::VERTICES / 8);
        each.map(|vertex| {
            let mut faces = Vec::new();
            let thickness = 2.0 * self.surfaces[vertex].thickness;
            let start = self.starts[vertex];
            let extra = if self.is_lost[vertex] { EXIT_REACH } else { 0.0 };
            let valid = BoundingBox::around([&start, &expected[vertex]])
                .grown(thickness + extra + 0.5 * (expected[vertex] - start).norm());
            if !self.is_held[vertex] {
                for (index, obstacle) in self.obstacles.iter().enumerate() {
                    let reach = valid.grown(thickness + 2.0 * obstacle.thickness + 1.0e-4);
                    obstacle.triangles_near(&reach, |triangle| {
                        let face = Face { obstacle: index as u32, triangle };
                        faces.push(Neighbour::new(face, &self.obstacles, &start));
                    });
                }
            }
            (Watch { faces: (0, 0), valid }, faces)
        })
        .collect()
    }

    fn append(&mut self, mut watch: Watch, faces: &[Neighbour]) -> Watch {
        let first = self.faces.len() as u32;
        self.faces.extend_from_slice(faces);
        watch.faces = (first, self.faces.len() as u32);
        watch
    }

    fn neighbourhood(&self, vertex: usize) -> Neighbourhood<'_> {
        let (first, end) = self.watches[vertex].faces;
        Neighbourhood {
            obstacles: &self.obstacles,
            faces: &self.faces[first as usize..end as usize],
            thickness: self.surfaces[vertex].thickness,
            is_lost: self.is_lost[vertex],
        }
    }

    /// Looks again around vertices that have left the box they were looked for in.
    fn look_again(&mut self, positions: &[Vec3]) {
        let strays: Vec<usize> = (0..self.watches.len())
            .filter(|vertex| !self.watches[*vertex].valid.contains(&positions[*vertex]))
            .collect();
        for vertex in strays {
            for (watch, faces) in self.look(vertex..vertex + 1, positions) {
                self.watches[vertex] = self.append(watch, &faces);
            }
        }
    }

    /// The planes of all vertices that have any, in order of vertices.
    fn detect(&mut self, positions: &[Vec3]) -> Vec<(u32, Planes)> {
        self.look_again(positions);
        let each = (0..self.watches.len()).into_par_iter().with_min_len(parallel::VERTICES / 8);
        each.filter_map(|vertex| {
            let (first, end) = self.watches[vertex].faces;
            if first == end {
                return None;
            }
            let path = Path { start: self.starts[vertex], end: positions[vertex] };
            let planes = self.neighbourhood(vertex).planes(&path);
            planes.first().is_some().then_some((vertex as u32, planes))
        })
        .collect()
    }

    /// Constrains the vertices that were in contact before the step or would violate a plane at
    /// `positions`, the start of the search, and puts them onto their planes.
    pub(crate) fn start(&mut self, positions: &mut [Vec3]) {
        for (vertex, planes) in self.detect(positions) {
            let index = vertex as usize;
            let known = self.memory.held.binary_search_by_key(&vertex, |held| held.vertex);
            let before = known.ok().map(|position| self.memory.held[position]);
            let contact = self.touch(index, planes, &positions[index], (before, CLOSE));
            if let Some(contact) = contact {
                place(&contact, positions);
                self.contacts.push(contact);
            }
        }
    }

    /// How a vertex was in contact in the last step.
    fn remembered(&self, vertex: u32) -> Option<Held> {
        let known = self.memory.held.binary_search_by_key(&vertex, |held| held.vertex);
        known.ok().map(|position| self.memory.held[position])
    }

    /// A contact of a vertex where one is due: where a plane is violated, or where there was one before.
    fn touch(
        &self,
        vertex: usize,
        mut planes: Planes,
        position: &Vec3,
        (before, part): (Option<Held>, f64),
    ) -> Option<Contact> {
        let allowance = self.allowance(vertex, &planes);
        let nearest = planes.first().map(|plane| plane.face);
        planes.retain(|plane| {
            is_closer(plane, position, part, allowance)
                || (before.is_some() && Some(plane.face) == nearest)
        });
        let plane = planes.first()?;
        let coefficient = self.friction(vertex, plane);
        let (shear, force) = before.map_or((Vec3::zeros(), 0.0), |held| (held.shear, held.force));
        Some(Contact {
            vertex: vertex as u32,
            planes,
            shear,
            force,
            limit: coefficient * force,
            allowance,
            replacements: 0,
            is_old: self.remembered(vertex as u32).is_some(),
        })
    }

    /// What may be lacking to the thickness at the end of the step: all that was lacking at its start but
    /// for the part that is made up in this step.
    fn allowance(&self, vertex: usize, planes: &Planes) -> f64 {
        let thickness = planes.first().map_or(0.0, |plane| plane.thickness);
        let around = self.neighbourhood(vertex);
        let distance = around.distance_at_start();
        let is_inside = around.is_lost && around.depth(&self.starts[vertex]) > Some(0.0);
        let lacking = (thickness - if is_inside { -distance } else { distance }).max(0.0);
        lacking * (-self.duration / APPROACH_TIME).exp()
    }

    /// What an impact adds to the normal force, in N. The force keeps the vertex off the surface at the end of
    /// the step, with whatever velocity the time scheme then finds for it. The contact makes this the
    /// velocity of the surface, and friction is to follow all of the change: `momentum_rate` gives it as a force
    /// for a vertex that is to have a velocity in m/s.
    fn impulse(&self, contact: &Contact, momentum_rate: impl Fn(usize, &Vec3) -> Vec3) -> f64 {
        match contact.planes.first() {
            Some(plane) if !contact.is_old => {
                let velocity = plane.motion / self.duration;
                momentum_rate(contact.vertex as usize, &velocity).dot(&plane.normal)
            }
            _ => 0.0,
        }
    }

    /// Friction of a contact.
    fn coefficient(&self, contact: &Contact) -> f64 {
        let plane = contact.planes.first();
        plane.map_or(0.0, |plane| self.friction(contact.vertex as usize, plane))
    }

    /// Friction of both surfaces: their geometric mean.
    fn friction(&self, vertex: usize, plane: &Plane) -> f64 {
        let obstacle = &self.obstacles[plane.face.obstacle as usize];
        (self.surfaces[vertex].friction * obstacle.friction).sqrt()
    }

    /// Brings the contacts up to date with `positions`, putting vertices that violate a plane onto it.
    /// Says whether there was any.
    ///
    /// The planes of a contact stay as they are for the rest of the step, however the vertex slides, so
    /// that the corrections converge; another face that it meets on its way adds a plane, or takes the place of
    /// one that faces nearly the same way.
    pub(crate) fn update(&mut self, positions: &mut [Vec3]) -> bool {
        let detected = self.detect(positions);
        let known = std::mem::take(&mut self.contacts);
        let mut known = known.into_iter().peekable();
        let mut changed = false;
        for (vertex, planes) in detected {
            let index = vertex as usize;
            while let Some(contact) = known.next_if(|contact| contact.vertex < vertex) {
                self.contacts.push(contact);
            }
            let contact = if let Some(mut contact) = known.next_if(|c| c.vertex == vertex) {
                let is_pushed = meet(&mut contact, &planes, &positions[index]);
                changed |= is_pushed;
                if is_pushed {
                    place(&contact, positions);
                }
                contact
            } else {
                let touched = self.touch(index, planes, &positions[index], (None, TOO_CLOSE));
                let Some(contact) = touched else {
                    continue;
                };
                changed = true;
                place(&contact, positions);
                contact
            };
            self.contacts.push(contact);
        }
        self.contacts.extend(known);
        changed
    }

    /// Lets contacts decide from the `residuals`, the forces in N that constraints have to balance: planes
    /// that pull are let go, and friction follows the push. Says whether the step must be solved further.
    ///
    /// Within a step only those do for which it would matter: where the force out of place would move the
    /// vertex by more than `negligible` in m. The others wait for the end of the step.
    pub(crate) fn decide(
        &mut self,
        residuals: &[Vec3],
        (masses, negligible): (&[f64], f64),
        momentum_rate: impl Fn(usize, &Vec3) -> Vec3,
    ) -> bool {
        let mut contacts = std::mem::take(&mut self.contacts);
        let mut changed = false;
        for contact in &mut contacts {
            let vertex = contact.vertex as usize;
            let push = contact.push(&-residuals[vertex]);
            let slack = 2.0 * masses[vertex] * negligible / (self.duration * self.duration);
            let coefficient = self.coefficient(contact);
            let impulse = self.impulse(contact, &momentum_rate);
            changed |= contact.press(&push, impulse, coefficient, slack);
            changed |= contact.let_go(&push, slack);
        }
        contacts.retain(|contact| contact.planes.first().is_some());
        self.contacts = contacts;
        changed
    }

    /// Constraints for the next correction, in order of vertices.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = Constraint> {
        self.contacts.iter().map(|contact| Constraint {
            vertex: contact.vertex as usize,
            projector: contact.projector(),
        })
    }

    /// Friction of the vertices at `positions`.
    pub(crate) fn frictions(&self, positions: &[Vec3]) -> impl Iterator<Item = (usize, Friction)> {
        self.contacts.iter().filter_map(|contact| {
            let vertex = contact.vertex as usize;
            let reach = contact.reach(&positions[vertex], &self.starts[vertex]);
            contact.friction(&reach, self.slip_length).map(|friction| (vertex, friction))
        })
    }

    /// The last resort: puts vertices whose way still crosses a face in front of it. Gives those that
    /// cannot be helped, because they are squeezed between faces.
    pub(crate) fn safeguard(&mut self, positions: &mut [Vec3]) -> Vec<u32> {
        self.look_again(positions);
        let helped: Vec<(usize, Option<Vec3>)> = (0..self.watches.len())
            .into_par_iter()
            .with_min_len(parallel::VERTICES / 8)
            .filter(|vertex| self.is_through(*vertex, positions[*vertex]))
            .map(|vertex| (vertex, self.way_out(vertex, positions[vertex])))
            .collect();
        let mut helpless = Vec::new();
        for (vertex, outside) in helped {
            match outside {
                Some(outside) => positions[vertex] = outside,
                None => helpless.push(vertex as u32),
            }
        }
        helpless
    }

    /// Whether the way of a vertex to `end` crosses a face.
    fn is_through(&self, vertex: usize, end: Vec3) -> bool {
        self.neighbourhood(vertex).is_crossed(&Path { start: self.starts[vertex], end })
    }

    /// A place for a vertex that its way reaches without crossing: in front of what it crosses first, and
    /// then of what it crosses on that way, or else where the nearest face carries it.
    fn way_out(&self, vertex: usize, end: Vec3) -> Option<Vec3> {
        let start = self.starts[vertex];
        let mut place = end;
        for _ in 0..MOST_WAYS_OUT {
            let planes = self.neighbourhood(vertex).planes(&Path { start, end: place });
            let plane = planes.first()?;
            place += plane.normal * (0.5 * plane.thickness - plane.gap(&place));
            if !self.is_through(vertex, place) {
                return Some(place);
            }
        }
        let carried = start + self.neighbourhood(vertex).motion_at_start(&start)?;
        (!self.is_through(vertex, carried)).then_some(carried)
    }

    /// Ends a step at `positions` with `residuals` in N: what the contacts make of the velocities, and what
    /// is to be remembered of them and of the `helpless`, whose way crossed a face. Contacts that pull are
    /// let go.
    pub(crate) fn finish(
        &mut self,
        positions: &[Vec3],
        residuals: &[Vec3],
        helpless: &[u32],
    ) -> (Vec<Outcome>, Memory) {
        let mut contacts = std::mem::take(&mut self.contacts);
        let (mut outcomes, mut held) = (Vec::new(), Vec::new());
        for contact in &mut contacts {
            let vertex = contact.vertex as usize;
            let push = contact.push(&-residuals[vertex]);
            let coefficient = self.coefficient(contact);
            contact.press(&push, 0.0, coefficient, 0.0);
            let reach = contact.reach(&positions[vertex], &self.starts[vertex]);
            let goes_on = push.multipliers.iter().any(|force| *force > 0.0);
            held.push(Held {
                vertex: contact.vertex,
                shear: reach * (self.slip_length / reach.norm().max(self.slip_length)),
                force: contact.force,
                goes_on,
            });
            if let (true, Some(plane)) = (goes_on, contact.planes.first()) {
                outcomes.push(Outcome {
                    vertex,
                    free: contact.projector(),
                    surface_velocity: plane.motion / self.duration,
                    is_new: !contact.is_old,
                });
            }
        }
        self.contacts = contacts;
        (outcomes, Memory { held, lost: self.lost(positions, helpless) })
    }

    /// Vertices that are inside closed colliders, of those that were and the `helpless`.
    fn lost(&self, positions: &[Vec3], helpless: &[u32]) -> Vec<u32> {
        let mut lost = self.memory.lost.clone();
        lost.extend_from_slice(helpless);
        lost.sort_unstable();
        lost.dedup();
        lost.retain(|vertex| {
            let vertex = *vertex as usize;
            self.neighbourhood(vertex).depth(&positions[vertex]) > Some(0.0)
        });
        lost
    }
}

/// Puts a vertex where its contact wants it.
fn place(contact: &Contact, positions: &mut [Vec3]) {
    let position = &mut positions[contact.vertex as usize];
    *position += contact.prescribed(position);
}

/// Whether a vertex is closer than a part of the thickness.
fn is_closer(plane: &Plane, position: &Vec3, part: f64, allowance: f64) -> bool {
    plane.gap(position) < part * plane.thickness - allowance
}

/// Takes in the planes that a vertex in contact violates. Says whether there were any.
fn meet(contact: &mut Contact, planes: &Planes, position: &Vec3) -> bool {
    let mut changed = false;
    for plane in
        planes.iter().filter(|plane| is_closer(plane, position, TOO_CLOSE, contact.allowance))
    {
        if contact.replacements < MOST_REPLACEMENTS {
            contact.replacements += u8::from(contact.planes.put(*plane));
            changed = true;
        }
    }
    changed
}
