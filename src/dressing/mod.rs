// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dressing: a pre-roll before the first frame, in which the seams of a garment close around a body.
//!
//! 1. Sewing: without gravity and in dense air, which turns panels into carriers of little inertia, the bounded forces of
//!    the seams (`forces::sewing`) draw panels together while contact leads them around the body (Etzmuss 2002, section
//!    6.3: seams as forces; Baraff and Witkin 1998: collision with the figure meanwhile). Nothing rubs: a tight garment
//!    slides to where it fits, as whoever puts it on tugs it into place, and is not held where its seams happen to close.
//!    Strips between both sides of closing seams are surfaces for other cloth or not: either may lead a garment so that it
//!    cannot close, and which one does is not known beforehand.
//! 2. Settling: gravity and friction act again, and the air keeps its density until the garment is at rest. Whoever welds
//!    the closed seams (`Cloth::of_panels`) goes on with a simulation of the welded garment, which begins here: hinges
//!    across seams hold layers apart that pairs of vertices let turn into each other. `js_mean_all` with each of its
//!    panels displaced by up to 10 mm and 2 degrees settles welded; as pairs two of them open again.
//! 3. Worn: gravity and air are those from before. A failed dressing stops where it is: its seams say where.

mod lift;

pub use lift::lift;

use crate::{
    error::{Error, Result},
    island::Island,
    scene::Report,
    simulation::Simulation,
    vec3::Vec3,
};

/// Heuristic parameters of the dressing of garments.
struct DressingParameters {
    /// Density of the air while dressing (kg/m³). Effect: larger delays panels behind their seams; smaller lets them
    /// swing past each other. Evidence: hood and bag of `tests/python/patterns/test_dressing.py` close with 30; no other
    /// value was tried.
    air_density: f64,
    /// Gap of a closed pair (mean edge lengths). Effect: larger accepts seams that gape; smaller calls loaded seams
    /// open. Evidence: a pair whose force is at its bound of a quarter of the modulus gapes by 0.0125;
    /// `test_a_garment_that_cannot_close_says_which_seam`.
    closed_gap: f64,
    /// Root mean square speed of a garment at rest (m/s). Effect: larger ends while hems still move; smaller waits for
    /// hems that flutter. Evidence: after 1.5 s of gravity the hood of
    /// `test_a_hood_of_others_is_worn_on_head_and_shoulders` at 3 cm has 0.015, half of its vertices 0.0005 and a
    /// loose corner 0.2, and moves by 7 mm at most in the next 0.5 s.
    rest_speed: f64,
    /// Longest time that seams may need beyond their closing time, and a garment to come to rest (s). Effect: larger
    /// waits longer before it fails; smaller gives up garments that slide into place. Evidence: the hood needs less
    /// than 1 s for both; `test_a_garment_that_cannot_close_says_which_seam` ends by it.
    patience: f64,
}

impl DressingParameters {
    const DEFAULT: Self =
        Self { air_density: 30.0, closed_gap: 0.0125, rest_speed: 0.02, patience: 3.0 };
}

/// Phase of a dressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DressingPhase {
    /// Seams are drawn together.
    Sewing,
    /// The garment settles under gravity.
    Settling,
    /// All seams are closed, the garment is at rest.
    Worn,
    /// Seams stayed open: gravity and air are those from before, the state is that of the failure.
    Open,
    /// Seams are closed, but the garment still moved after the time that it was given.
    Moving,
}

impl DressingPhase {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sewing => "sewing",
            Self::Settling => "settling",
            Self::Worn => "worn",
            Self::Open => "open",
            Self::Moving => "moving",
        }
    }

    /// Whether nothing remains to be done.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Sewing | Self::Settling)
    }
}

/// An open pair of a seam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenPair {
    /// The cloth.
    pub cloth: usize,
    /// Index of the pair in the cloth's sewing.
    pub pair: usize,
    /// Distance of both vertices, in m.
    pub gap: f64,
}

/// A dressing under way; the simulation is advanced by it alone until it is over.
#[derive(Clone, Debug)]
pub struct Dressing {
    phase: DressingPhase,
    /// Gravity before and after, in m/s².
    gravity: Vec3,
    /// Density of the air before and after, in kg/m³.
    air_density: f64,
    /// Time in the present phase after the seams' closing time, in s.
    waited: f64,
}

impl Dressing {
    /// Begins to dress the cloths of a simulation: no gravity, no friction, dense air; strips between both sides of
    /// closing seams are surfaces if `guards_seams`. Where nothing is sewn, as in garments that were welded, they settle
    /// at once.
    ///
    /// # Errors
    /// None that a valid simulation has.
    pub fn begin(simulation: &mut Simulation, guards_seams: bool) -> Result<Self> {
        let is_sewn = simulation.has_springs()[0];
        let begun = Self {
            phase: if is_sewn { DressingPhase::Sewing } else { DressingPhase::Settling },
            gravity: simulation.islands.gravity(),
            air_density: simulation.settings().air_density,
            waited: 0.0,
        };
        set_air_density(simulation, DressingParameters::DEFAULT.air_density)?;
        if is_sewn {
            simulation.set_gravity(Vec3::zeros())?;
            simulation.islands.set_has_friction(false);
            simulation.islands.set_guards_seams(guards_seams);
        }
        Ok(begun)
    }

    /// Present phase.
    #[must_use]
    pub fn phase(&self) -> DressingPhase {
        self.phase
    }

    /// Simulates `duration` in s and goes to the next phase where this one is done.
    ///
    /// # Errors
    /// The dressing is over, or what [`Simulation::advance`] refuses.
    pub fn advance(&mut self, simulation: &mut Simulation, duration: f64) -> Result<Report> {
        if self.phase.is_over() {
            return Err(Error::value("dressing", self.phase.name(), "one that is not over"));
        }
        let report = simulation.advance(duration)?;
        if simulation
            .islands
            .iter()
            .any(|island| island.system.dynamics.elements.is_time_dependent())
        {
            return Ok(report);
        }
        self.waited += duration;
        let next = self.next_phase(simulation);
        if next != self.phase {
            self.enter(next, simulation)?;
        }
        Ok(report)
    }

    /// Ends the dressing where it is, as if its time were up; gravity and air are those from before.
    ///
    /// # Errors
    /// None that a valid simulation has.
    pub fn cancel(&mut self, simulation: &mut Simulation) -> Result<()> {
        match self.phase {
            DressingPhase::Sewing => self.enter(DressingPhase::Open, simulation),
            DressingPhase::Settling => self.enter(DressingPhase::Moving, simulation),
            DressingPhase::Worn | DressingPhase::Open | DressingPhase::Moving => Ok(()),
        }
    }

    fn next_phase(&self, simulation: &Simulation) -> DressingPhase {
        let DressingParameters { rest_speed, patience, .. } = DressingParameters::DEFAULT;
        let is_late = self.waited >= patience;
        let is_closed = open_pairs(simulation).is_empty();
        let is_at_rest = || simulation.islands.mean_speed() <= rest_speed;
        match self.phase {
            DressingPhase::Sewing if is_closed => DressingPhase::Settling,
            DressingPhase::Settling if is_closed && is_at_rest() => DressingPhase::Worn,
            DressingPhase::Settling if is_late && is_closed => DressingPhase::Moving,
            DressingPhase::Sewing | DressingPhase::Settling if is_late => DressingPhase::Open,
            phase => phase,
        }
    }

    fn enter(&mut self, phase: DressingPhase, simulation: &mut Simulation) -> Result<()> {
        simulation.set_gravity(self.gravity)?;
        simulation.islands.set_has_friction(true);
        if phase.is_over() {
            simulation.islands.set_guards_seams(true);
            set_air_density(simulation, self.air_density)?;
        }
        self.phase = phase;
        self.waited = 0.0;
        Ok(())
    }
}

/// Pairs of seams that are not closed, in the order of cloths and of their pairs.
#[must_use]
pub fn open_pairs(simulation: &Simulation) -> Vec<OpenPair> {
    let mean_edges = simulation.islands.iter().map(|island| island.solver.mean_edge_length);
    let longest = DressingParameters::DEFAULT.closed_gap * mean_edges.fold(f64::INFINITY, f64::min);
    let mut open: Vec<OpenPair> = simulation
        .islands
        .with_cloths()
        .flat_map(|(cloths, island)| {
            let of_island = seam_gaps(island).into_iter();
            of_island.map(|one| OpenPair { cloth: cloths[one.cloth], ..one })
        })
        .filter(|one| one.gap > longest)
        .collect();
    open.sort_by_key(|one| (one.cloth, one.pair));
    open
}

/// Gaps of all pairs of an island, with its own indices of cloths.
fn seam_gaps(island: &Island) -> Vec<OpenPair> {
    let pairs = &island.system.dynamics.seams;
    let positions = &island.state.positions;
    let cloth_of = |pair: &[u32; 2]| island.mesh().cloth_of_vertex(pair[0] as usize).0;
    let gap = |(index, pair): (usize, &[u32; 2])| {
        let [one, other] = pair.map(|vertex| positions[vertex as usize]);
        let cloth = cloth_of(pair);
        let first = pairs.partition_point(|earlier| cloth_of(earlier) < cloth);
        OpenPair { cloth, pair: index - first, gap: (one - other).norm() }
    };
    pairs.iter().enumerate().map(gap).collect()
}

fn set_air_density(simulation: &mut Simulation, air_density: f64) -> Result<()> {
    let settings = simulation.settings().clone();
    simulation.set_settings(crate::scene::Settings { air_density, ..settings })
}
