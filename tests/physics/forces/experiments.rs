// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments of Etzmuss 2002, section 2.8: a square of cloth against the analytic solution, ever finer.
//!
//! The error is the distance between the solution and the vertices, averaged; it falls at second order.

use crate::fixtures::{
    equilibrium::{calm, settle},
    strips::{Pattern, Strip},
};
use weft::{Material, Settings, Simulation, Vec3};

/// Cells per side.
pub(crate) const SIDES: [usize; 5] = [5, 10, 20, 40, 80];

/// Solves the experiment on ever finer meshes and looks at how its error falls.
pub(crate) fn check_order(name: &str, sides: &[usize], error: impl Fn(usize) -> f64) {
    let errors: Vec<f64> = sides.iter().map(|side| error(*side)).collect();
    let last = sides.len() - 1;
    let order = |first: usize| {
        (errors[first] / errors[last]).ln() / (sides[last] as f64 / sides[first] as f64).ln()
    };
    // Coarse meshes are better than the leading term says.
    assert!(order(last - 2) > 1.9 && order(last - 1) > 1.9, "{name}: {errors:?}");
}

/// From where vertices should be, in m; of those that are not pinned.
pub(crate) fn mean_distance(simulation: &Simulation, wanted: &[Vec3], pinned: &[usize]) -> f64 {
    let pairs = simulation.positions(0).unwrap().iter().zip(wanted);
    pairs.map(|(a, b)| (a - b).norm()).sum::<f64>() / (wanted.len() - pinned.len()) as f64
}

/// The integral of a smooth function from 0 to `end` (Simpson's rule).
pub(crate) fn integral(function: impl Fn(f64) -> f64, end: f64) -> f64 {
    let count = 200;
    let width = end / f64::from(count);
    let term = |index: i32| {
        let start = f64::from(index) * width;
        function(start) + 4.0 * function(start + 0.5 * width) + function(start + width)
    };
    (0..count).map(term).sum::<f64>() * width / 6.0
}

/// The stretch λ of a thread of modulus 1 that carries a load: ½λ(λ² − 1) = load.
fn stretch_under(load: f64) -> f64 {
    let mut stretch = 1.0 + load;
    for _ in 0..50 {
        stretch -=
            (0.5 * stretch * (stretch * stretch - 1.0) - load) / (1.5 * stretch * stretch - 0.5);
    }
    stretch
}

/// Fixed along one edge and stretched by 981 N/m² along the plane; Young's modulus 10⁴ N/m.
#[test]
fn the_hanging_square_converges_at_second_order() {
    let (modulus, force) = (1.0e4, 981.0);
    check_order("hanging", &SIDES, |side| {
        let strip = Strip::new(Pattern::Alternating, 1.0, [side, side]);
        let material = Material {
            density: 1.0,
            stretch_warp: modulus,
            stretch_weft: modulus,
            shear: 0.5 * modulus,
            poisson: 0.0,
            ..Material::default()
        };
        let cloth = strip.cloth(material, strip.points.clone(), 0.0);
        let settings = Settings { gravity: Vec3::x() * force, ..calm() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        let pinned = strip.vertices(0..1);
        simulation.set_pins(0, &pinned, None).unwrap();
        settle(&mut simulation, 1.0e-8);
        let place = |x: f64| integral(|s| stretch_under(force * (1.0 - s) / modulus), x);
        let wanted = strip.map(|point| Vec3::new(place(point.x), point.y, 0.0));
        mean_distance(&simulation, &wanted, &pinned)
    });
}

/// Fixed along one edge and sheared by 10 N/m² along that edge; Young's modulus 10⁶ N/m, shear modulus 100 N/m.
///
/// Threads along x are not stretched, so that with w = f(1 − x)/G the slope of the sheet is y' = w and
/// x' = √(1 − w²). Its stress is pure shear, which the edges along x have to bear: their displacements are prescribed by the solution.
#[test]
fn the_sheared_square_converges_at_second_order() {
    let (modulus, shear, force) = (1.0e6, 100.0, 10.0);
    let load = |x: f64| force * (1.0 - x) / shear;
    check_order("sheared", &SIDES, |side| {
        let strip = Strip::new(Pattern::Alternating, 1.0, [side, side]);
        let material = Material {
            density: 1.0,
            stretch_warp: modulus,
            stretch_weft: modulus,
            shear,
            poisson: 0.0,
            ..Material::default()
        };
        let wanted = strip.map(|point| {
            let along = integral(|s| (1.0 - load(s).powi(2)).sqrt(), point.x);
            Vec3::new(along, point.y + integral(load, point.x), 0.0)
        });
        let pinned: Vec<usize> = (0..strip.points.len())
            .filter(|vertex| {
                let point = strip.points[*vertex];
                point.x < 1.0e-9 || point.y.abs() > 0.5 - 1.0e-9
            })
            .collect();
        let cloth = strip.cloth(material, wanted.clone(), 0.0);
        let settings = Settings { gravity: Vec3::y() * force, ..calm() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        simulation.set_pins(0, &pinned, None).unwrap();
        settle(&mut simulation, 1.0e-8);
        mean_distance(&simulation, &wanted, &pinned)
    });
}

/// A thread that hangs from a fixed and a sliding support, neither of which holds its direction.
///
/// No force pulls it along, so that half the load on each support leaves Bθ'' = f(½ − s)cos θ for the angle θ to the
/// horizontal, with θ' = 0 at both ends and θ = 0 in the middle.
pub(crate) struct HangingThread {
    /// Load f over rigidity B, in 1/m³.
    pub(crate) load: f64,
    pub(crate) steps: usize,
}

impl HangingThread {
    /// Position, angle and its derivative at `steps + 1` places along the first half, for an angle at the start.
    fn shot(&self, angle: f64) -> Vec<[f64; 4]> {
        let rate = |s: f64, [_, _, angle, bent]: [f64; 4]| {
            [angle.cos(), angle.sin(), bent, self.load * (0.5 - s) * angle.cos()]
        };
        let width = 0.5 / self.steps as f64;
        let moved = |y: [f64; 4], k: [f64; 4], by: f64| [0, 1, 2, 3].map(|i| y[i] + by * k[i]);
        let mut states = vec![[0.0, 0.0, angle, 0.0]];
        for step in 0..self.steps {
            let (s, y) = (step as f64 * width, states[step]);
            let k1 = rate(s, y);
            let k2 = rate(s + 0.5 * width, moved(y, k1, 0.5 * width));
            let k3 = rate(s + 0.5 * width, moved(y, k2, 0.5 * width));
            let k4 = rate(s + width, moved(y, k3, width));
            let mean = [0, 1, 2, 3].map(|i| (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) / 6.0);
            states.push(moved(y, mean, width));
        }
        states
    }

    /// Position of the places along the whole thread, hanging from the origin, at most 45 degrees steep.
    pub(crate) fn shape(&self) -> Vec<[f64; 2]> {
        let (mut low, mut high) = (-std::f64::consts::FRAC_PI_4, 0.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let is_steep = self.shot(middle)[self.steps][2] < 0.0;
            (low, high) = if is_steep { (middle, high) } else { (low, middle) };
        }
        let half: Vec<[f64; 2]> = self.shot(low).iter().map(|state| [state[0], state[1]]).collect();
        let end = 2.0 * half[self.steps][0];
        let mirrored = half[..self.steps].iter().rev().map(|[x, y]| [end - x, *y]);
        half.iter().copied().chain(mirrored).collect()
    }
}

/// Hung from two opposite edges, of which one may come nearer until bending stops it; Young's modulus 10⁶ N/m, bending rigidity 5 N·m
/// and, for a visible sag, 40 N/m².
#[test]
fn the_bent_square_converges_at_second_order() {
    let (modulus, bending, force) = (1.0e6, 5.0, 40.0);
    check_order("bent", &SIDES, |side| {
        let strip = Strip::new(Pattern::Alternating, 1.0, [side, side]);
        let material = Material {
            density: 1.0,
            stretch_warp: modulus,
            stretch_weft: modulus,
            shear: 0.5 * modulus,
            poisson: 0.0,
            bend_warp: bending,
            bend_weft: bending,
            bend_twist: None,
            ..Material::default()
        };
        let steps = 20 * side;
        let thread = HangingThread { load: force / bending, steps }.shape();
        let wanted = strip.map(|point| {
            let [x, z] = thread[(2.0 * steps as f64 * point.x).round() as usize];
            Vec3::new(x, point.y, z)
        });
        let cloth = strip.cloth(material, strip.points.clone(), 0.0);
        let settings = Settings { gravity: Vec3::z() * -force, ..calm() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        let (pinned, sliding) = (strip.vertices(0..1), strip.vertices(side..side + 1));
        simulation.set_pins(0, &pinned, None).unwrap();
        let across = [Vec3::y(), Vec3::z()];
        simulation.set_guided_velocity(0, &sliding, &across, Vec3::zeros()).unwrap();
        settle(&mut simulation, 1.0e-8);
        mean_distance(&simulation, &wanted, &pinned)
    });
}
