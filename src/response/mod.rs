// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contacts of a scene through the corrections of a step.
//!
//! [`Response::begin`] finds the pairs that may meet on the way that is expected, [`Response::refreshed`] looks before every
//! correction which of them touch, [`Response::verify`] checks the way that came out against all
//! pairs there are, and [`Response::retreat`] (in `retreat`) keeps the promise where nothing else has.
//!
//! **What is promised.** No step hands on a state in which surfaces have crossed that had not before. Every
//! step moves all vertices on straight ways, from the state it was given to the one it hands on. Two surfaces of
//! triangles that do not cross at the start can only come to do so at a moment at which a vertex
//! meets a triangle or an edge an edge. [`Response::verify`] passes a step only if continuous detection excludes both for
//! every pair whose boxes come together, and the boxes of all others are apart at every
//! time; both are proved conservative under rounding where they are computed (see `time_of_impact` and
//! `moving_tree`). It even asks for a distance: a part of the thickness, or half of the distance
//! there was if that is less, or nearly all of one that is hardly there, so the next step never starts from a touch. But
//! surfaces that had crossed may be left with less than rounding can tell from none when they come apart, or be given so.
//! Between such only this is promised, that a vertex which ends over a face is on the side that it belongs on (see `pair`);
//! and nothing between parts of cloths that are crushed (see `tangle`).

mod active_set;
mod collider_motion;
mod contact_forces;
mod driving;
mod fallback;
mod impact_impulses;
pub(crate) mod landing;
mod sliding;
mod step_validation;
mod stiffening;
mod untangling_pass;

pub(crate) use active_set::{ActiveSet, Multiplier};
pub(crate) use collider_motion::Obstacle;
pub(crate) use fallback::Retreated;

use crate::{
    Vec3,
    collision::{Bounds, BroadPhase, Contact, Kind, Memory, Motion, Pair, Remembered},
    mesh::NONE,
    parallel::{BufferPool, reductions},
    surface::{Ridge, Surface, Surfaces},
    untangling::{Loose, Tangle, insiders},
};
use rayon::prelude::*;
use step_validation::{Watch, empty};

/// Surfaces that start nearer than their thickness are moved apart by the thickness in this time, in s.
pub(crate) const PARTING_TIME: f64 = 0.1;
/// Contacts are looked for this part of the thickness farther away than they are felt.
const SLACK: f64 = 0.5;
/// Sine of the angle by which the direction of a contact may lean over a neighbouring face, and of one that presses.
/// Surfaces are polygons, and what presses bends them: were both the same, contacts at edges would press themselves
/// away, and come back, for ever.
const LEANING: [f64; 2] = [1.0e-3, 0.1];
/// When contacts settle, pairs are taken in that keep less than this part of their distance: what were left out longer
/// would sink in, and be thrown out again by the next step.
const CLOSE: f64 = 0.98;

/// The contacts of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    surfaces: Surfaces,
    obstacles: Vec<Obstacle>,
    broad_phase: BroadPhase,
    /// Where all vertices are when the step begins, and where they have come to; of none where there is nothing to meet.
    starts: Vec<Vec3>,
    ends: Vec<Vec3>,
    /// Vertices whose motion is given.
    is_held: Vec<bool>,
    /// For every edge.
    ridges: Vec<Ridge>,
    /// Those that are looked at after each correction, in order. What is not idle of the watched ones is among them, with
    /// clearances on the ways that these were looked for along, or 0.
    pairs: Vec<Pair>,
    contacts: Vec<Contact>,
    buffers: BufferPool<Vec<Contact>>,
    /// For every pair its place among the contacts, or [`NONE`].
    places: Vec<u32>,
    /// What crosses at the start of the step, what draws its edges, and what draws whole pieces.
    tangle: Option<Tangle>,
    pulls: Vec<Contact>,
    returns: Vec<Contact>,
    /// What other cloth lets go in the step.
    loose: Loose,
    memory: Memory,
    watch: Watch,
    /// Whether something held is led through something else whose motion is given.
    is_led_across: bool,
    /// Whether a collider has got another surface since the trees were fitted to where it is.
    has_other_surface: bool,
    duration: f64,
    with_self: bool,
}

impl Response {
    /// `positions` are those of the cloths, in m.
    pub(crate) fn new(
        mut surfaces: Surfaces,
        obstacles: Vec<Obstacle>,
        positions: &[Vec3],
        with_self: bool,
    ) -> Self {
        let is_alone = obstacles.is_empty() && !with_self;
        let mut starts = if is_alone { Vec::new() } else { positions.to_vec() };
        starts.extend(obstacles.iter().flat_map(|obstacle| obstacle.positions_at(0.0)));
        surfaces.insiders = insiders(&surfaces, &starts);
        let motion = Motion { starts: &starts, ends: &starts };
        let mut ridges = vec![Ridge::default(); surfaces.edges.len()];
        find_ridges(&surfaces, &starts, &mut ridges);
        Self {
            ridges,
            broad_phase: BroadPhase::new(&surfaces, motion),
            ends: starts.clone(),
            starts,
            is_held: vec![false; positions.len()],
            pairs: Vec::new(),
            contacts: Vec::new(),
            buffers: BufferPool::new(1),
            places: Vec::new(),
            tangle: None,
            pulls: Vec::new(),
            returns: Vec::new(),
            loose: Loose::default(),
            // What crosses at the start is not known before it has been looked for.
            memory: Memory::unknown(),
            watch: Watch::default(),
            is_led_across: false,
            has_other_surface: false,
            duration: 0.0,
            with_self,
            surfaces,
            obstacles,
        }
    }

    pub(crate) fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    pub(crate) fn obstacles_mut(&mut self) -> &mut [Obstacle] {
        &mut self.obstacles
    }

    /// The smallest thickness of a cloth, in m.
    pub(crate) fn thickness(&self) -> f64 {
        let cloths = &self.surfaces.kinds[..self.cloth_vertices()];
        cloths.iter().map(|surface| surface.thickness).fold(f64::INFINITY, f64::min)
    }

    /// Numbers of vertices, edges and triangles.
    pub(crate) fn counts(&self) -> [usize; 3] {
        let surfaces = &self.surfaces;
        [surfaces.kinds.len(), surfaces.edges.len(), surfaces.triangles.len()]
    }

    pub(crate) fn set_surface(&mut self, vertices: std::ops::Range<usize>, surface: &Surface) {
        self.surfaces.set_surface(vertices, surface);
    }

    pub(crate) fn set_collider_surface(&mut self, collider: usize, surface: Surface) {
        let vertices = self.surfaces.vertices_of_collider(collider);
        self.surfaces.kinds[vertices].fill(surface);
        self.has_other_surface = true;
    }

    pub(crate) fn collider_surface(&self, collider: usize) -> Surface {
        self.surfaces.kinds[self.surfaces.vertices_of_collider(collider).start]
    }

    /// Contacts when the last step ended.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn set_memory(&mut self, memory: Memory) {
        self.memory = memory;
    }

    fn motion(&self) -> Motion<'_> {
        Motion { starts: &self.starts, ends: &self.ends }
    }

    fn cloth_vertices(&self) -> usize {
        self.surfaces.cloth_vertices
    }

    /// Begins a step from `starts`, on which the cloths' vertices are expected to come to `expected`, over a part of
    /// the frame that takes `duration` in s.
    pub(crate) fn begin(
        &mut self,
        (starts, expected): (&[Vec3], &[Vec3]),
        is_held: &[bool],
        (part, duration): ([f64; 2], f64),
    ) {
        let count = self.cloth_vertices();
        self.duration = duration;
        self.is_held.copy_from_slice(is_held);
        if self.is_alone() {
            return;
        }
        self.starts[..count].copy_from_slice(starts);
        self.ends[..count].copy_from_slice(expected);
        let mut has_moved = std::mem::take(&mut self.has_other_surface);
        for (side, part) in [(&mut self.starts, part[0]), (&mut self.ends, part[1])] {
            let positions = self.obstacles.iter().flat_map(|obstacle| obstacle.positions_at(part));
            for (position, new) in side[count..].iter_mut().zip(positions) {
                has_moved |= *position != new;
                *position = new;
            }
        }
        let (surfaces, motion) =
            (&self.surfaces, Motion { starts: &self.starts, ends: &self.ends });
        self.broad_phase.follow(motion);
        if has_moved {
            self.broad_phase.refit_colliders(surfaces);
        }
        self.broad_phase.refit_cloths(surfaces, 1.0 + SLACK);
        let changed = if has_moved { self.ridges.len() } else { surfaces.cloth_edges };
        find_ridges(surfaces, &self.starts, &mut self.ridges[..changed]);
        self.untangle();
        let pairs = std::mem::take(&mut self.pairs);
        self.pairs = self.watch(pairs);
        self.rescue_again();
        let mut none = self.buffers.take();
        empty(&mut none, self.contacts.len());
        self.take(none);
    }

    /// Whether there is nothing to meet.
    fn is_alone(&self) -> bool {
        self.obstacles.is_empty() && !self.with_self
    }

    /// Whether vertices and triangles keep two edges apart. Not edges that pressed in the last step: pressed flat they would
    /// let go of each other, and without each other bend until they press again, for ever.
    fn is_idle(&self, pair: &Pair) -> bool {
        let [first, second] = pair.features.map(|feature| feature as usize);
        pair.kind == Kind::EdgeEdge
            && self.ridges[first].is_idle_at(&self.ridges[second])
            && !self.memory.of(pair).is_known
    }

    /// Whether a pair is kept apart: some vertex of it is free to give way, and it is not tangled already, nor let go.
    fn is_guarded(&self, pair: &Pair) -> bool {
        self.gives_way(pair) && !self.is_let_go(pair)
    }

    /// Whether some vertex of a pair is free.
    fn gives_way(&self, pair: &Pair) -> bool {
        pair.vertices.iter().any(|vertex| self.is_held.get(*vertex as usize) == Some(&false))
    }

    /// Whether a pair is without contact and promise for what crosses.
    fn is_let_go(&self, pair: &Pair) -> bool {
        self.tangle.as_ref().is_some_and(|tangle| tangle.frees(&self.surfaces, pair))
            || self.loose.frees(&self.surfaces, pair)
    }

    /// Whether some vertex of a pair is held and none is free to give way.
    fn is_given(&self, pair: &Pair) -> bool {
        let mut held = pair.vertices.iter().map(|vertex| self.is_held.get(*vertex as usize));
        held.clone().any(|held| held == Some(&true)) && held.all(|held| held != Some(&false))
    }

    /// Looks which pairs touch with the cloths at `positions`, the start of the search. Friction is that of the last step.
    pub(crate) fn start(&mut self, positions: &[Vec3]) {
        self.move_to(positions);
        let mut contacts = self.collect(|pair, _| {
            let Remembered { force, sliding, .. } = self.memory.of(pair);
            let mut contact = self.touching(pair, force > 0.0)?;
            contact.carry(force);
            contact.sliding = sliding;
            Some(contact)
        });
        self.choose_constraints(&mut contacts);
        self.take(contacts);
    }

    /// Which pairs touch with the cloths at `positions`, and in which direction.
    pub(crate) fn refreshed(&mut self, positions: &[Vec3]) -> Vec<Contact> {
        self.move_to(positions);
        let mut contacts =
            self.collect(|pair, known| self.contact(pair, known).or_else(|| self.guard(known)));
        self.choose_constraints(&mut contacts);
        contacts
    }

    /// The contacts there are with the cloths at `positions`, with their directions, so that corrections can settle, and
    /// of others only those that have come close.
    pub(crate) fn settled(&mut self, positions: &[Vec3]) -> Vec<Contact> {
        self.move_to(positions);
        let mut contacts = self.collect(|pair, known| match known {
            Some(known) if pair.rescues == 0 && !known.touch.is_crossed => {
                Some(self.pressed(*known))
            }
            Some(_) => self.contact(pair, known),
            None => self.contact(pair, None).filter(|new| new.touch.gap < CLOSE * new.wanted()),
        });
        self.choose_constraints(&mut contacts);
        contacts
    }

    /// Goes on with contacts that have been found, in order.
    pub(crate) fn take(&mut self, contacts: Vec<Contact>) {
        self.buffers.give(std::mem::replace(&mut self.contacts, contacts));
        self.find_places();
    }

    /// Finds the contact of each pair.
    pub(crate) fn find_places(&mut self) {
        let mut place = 0;
        // Both are in order.
        let places = self.pairs.iter().map(|pair| match self.contacts.get(place) {
            Some(contact) if contact.pair.key() == pair.key() => {
                place += 1;
                place as u32 - 1
            }
            _ => NONE,
        });
        self.places.clear();
        self.places.extend(places);
    }

    fn move_to(&mut self, positions: &[Vec3]) {
        if self.is_alone() {
            return;
        }
        let count = self.cloth_vertices();
        self.ends[..count].copy_from_slice(positions);
        self.watch.deviations.measure(positions);
    }

    /// What `one` makes of pairs and the contacts that they were, in their order; of those that are far apart nothing.
    fn collect(
        &self,
        one: impl Fn(&Pair, Option<&Contact>) -> Option<Contact> + Sync,
    ) -> Vec<Contact> {
        let contact = |place: usize| {
            let pair = &self.pairs[place];
            let known = self.contacts.get(self.places[place] as usize);
            if known.is_none() && self.watch.deviations.leave_apart(pair, pair.thickness) {
                return None;
            }
            one(pair, known)
        };
        let buffer = self.buffers.take();
        reductions::collect(self.pairs.len(), reductions::ELEMENTS / 4, buffer, contact)
    }

    /// The contact of a pair that has let go, which the next correction must not go through unseen.
    fn guard(&self, known: Option<&Contact>) -> Option<Contact> {
        let mut contact = self.pressed(*known?);
        contact.touch.is_crossed = false;
        (contact.force() <= 0.0).then_some(contact)
    }

    /// A contact with the forces it has now.
    fn pressed(&self, mut contact: Contact) -> Contact {
        contact.press(&contact.between(&self.ends));
        contact
    }

    /// The contact of a pair that touches, with the forces it has now.
    fn contact(&self, pair: &Pair, known: Option<&Contact>) -> Option<Contact> {
        let mut contact = self.touching(pair, known.is_some_and(|known| known.force() > 0.0))?;
        if let Some(known) = known {
            contact.sliding = known.sliding;
            contact.meet(known.is_constraint(), known.force());
        }
        Some(self.pressed(contact))
    }

    /// The contact of a pair that touches, or that has pressed and is still near, without forces.
    fn touching(&self, pair: &Pair, has_pressed: bool) -> Option<Contact> {
        let surfaces = &self.surfaces;
        let [first, second] = pair.ends().map(|vertex| surfaces.kinds[vertex as usize]);
        let room = if has_pressed { 1.0 + SLACK } else { 1.0 };
        let leaning = LEANING[usize::from(has_pressed)];
        let bounds = Bounds { reach: room * pair.thickness, leaning };
        let touch = pair.touch(surfaces, self.motion(), bounds)?;
        let thickness = pair.thickness;
        if touch.gap >= thickness && !has_pressed {
            return None;
        }
        let remembered = self.memory.of(pair);
        let area = pair.area(surfaces, &touch.weights);
        let mut contact = Contact::new(*pair, touch, thickness, area);
        contact.part(thickness * self.duration / PARTING_TIME, remembered.load);
        if touch.gap >= contact.wanted() && !has_pressed {
            return None;
        }
        let bodies = pair.ends().map(|vertex| surfaces.bodies[vertex as usize]);
        let is_smooth = self.tangle.as_ref().is_some_and(|tangle| tangle.smooths(bodies));
        contact.friction = if is_smooth { 0.0 } else { (first.friction * second.friction).sqrt() };
        contact.shear = remembered.shear;
        contact.is_new = !remembered.is_known;
        contact.origin = contact.between(&self.starts);
        Some(contact)
    }

    /// The contacts as they were last looked at.
    pub(crate) fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// What draws the edges of crossings.
    pub(crate) fn pulls(&self) -> &[Contact] {
        &self.pulls
    }

    /// Whether the motion of a vertex is sought, not given.
    pub(crate) fn is_cloth(&self, vertex: u32) -> bool {
        self.surfaces.is_cloth(vertex)
    }

    /// Whether the motion of a cloth's vertex is given.
    pub(crate) fn is_held(&self, vertex: usize) -> bool {
        self.is_held[vertex]
    }

    /// What is to be remembered of a step whose ways have been checked, and of which so many pairs are `crossing`.
    pub(crate) fn recall(&self, crossing: usize) -> Memory {
        // What began in a touch may have gone to either side.
        let is_undecided = || self.pairs.iter().any(|pair| pair.is_undecided(self.motion()));
        let crosses = crossing > 0 || self.is_led_across || !self.loose.is_empty();
        let is_tangled = crosses || self.tangle.is_some() || is_undecided();
        let before = self.memory.crossed_for.filter(|_| self.tangle.is_some());
        let crossed_for = is_tangled.then(|| before.map_or(0.0, |time| time + self.duration));
        let was_led_across = self.memory.was_led_across || self.is_led_across;
        Memory::new(self.contacts.iter(), &self.ends, (crossed_for, was_led_across))
    }

    /// Length of the step, in s.
    pub(crate) fn duration(&self) -> f64 {
        self.duration
    }

    /// Velocity of a collider's vertex, in m/s.
    pub(crate) fn given_velocity(&self, vertex: u32) -> Vec3 {
        self.way(vertex) / self.duration
    }

    /// The way of a vertex in the step, in m.
    pub(crate) fn way(&self, vertex: u32) -> Vec3 {
        self.ends[vertex as usize] - self.starts[vertex as usize]
    }

    /// Where all vertices were when the step began, in m.
    pub(crate) fn starts(&self) -> &[Vec3] {
        &self.starts
    }
}

/// Measures the first edges.
fn find_ridges(surfaces: &Surfaces, positions: &[Vec3], ridges: &mut [Ridge]) {
    let each = ridges.par_iter_mut().enumerate().with_min_len(reductions::ELEMENTS);
    each.for_each(|(edge, ridge)| *ridge = surfaces.ridge(edge, positions));
}
