// SPDX-License-Identifier: MIT OR Apache-2.0
//! Motions of four points that make it hard: degenerate, nearly so, or just grazing a contact.

use crate::random::Random;
use weft::{Vec3, geometry::Trajectory};

/// Four paths, for a point and a triangle or for two edges, and the distance to keep, in m.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(crate) paths: [Trajectory; 4],
    pub(crate) gap: f64,
}

/// Common data of all paths.
#[derive(Clone, Copy, Debug)]
enum Shape {
    General,
    /// All in one plane, or nearly.
    Flat,
    /// All on one line, or nearly.
    Straight,
    /// Two edges in one direction, or nearly.
    Parallel,
    /// Three points nearly on a line.
    Needle,
    /// Some points are one.
    Coincident,
    /// Nothing moves by itself.
    Still,
    /// All turn about one axis.
    Turning,
    /// All start at one place.
    Meeting,
}

const SHAPES: [Shape; 9] = [
    Shape::General,
    Shape::Flat,
    Shape::Straight,
    Shape::Parallel,
    Shape::Needle,
    Shape::Coincident,
    Shape::Still,
    Shape::Turning,
    Shape::Meeting,
];

/// Small factors, of which the whole-numbered ones keep numbers exact.
const NEARLY: [f64; 6] = [0.0, 0.0, 1.0 / 1024.0, 1e-6, 1e-9, 1e-13];

pub(crate) fn motion(random: &mut Random) -> Motion {
    let is_whole = random.is_one_in(2);
    let limit = random.pick(&[1, 2, 4, 8]);
    let point = |random: &mut Random| {
        if is_whole { random.whole_vector(limit) } else { random.vector() }
    };
    let travel = random.pick(&[0.0, 1.0 / 1024.0, 0.125, 1.0, 1.0, 1.0, 64.0]);
    let mut paths = [(); 4].map(|()| {
        let start = point(random);
        Trajectory { start, end: start + point(random) * travel }
    });
    let shape = random.pick(&SHAPES);
    give_shape(shape, &mut paths, random);
    let size = if is_whole { f64::from(limit) } else { 1.0 };
    let gap = if random.is_one_in(2) { 0.0 } else { size * random.pick(&[1e-6, 0.0625, 1.0]) };
    for _ in 0..random.below(3) {
        lead_to_contact(&mut paths, gap, random);
    }
    if random.is_one_in(3) {
        let carried = point(random) * random.pick(&[1.0, 1024.0, 1_048_576.0]);
        paths = paths.map(|path| Trajectory { end: path.end + carried, ..path });
    }
    let scale = place(&mut paths, is_whole, random);
    if random.is_one_in(4) {
        paths = paths.map(|path| shaken(path, random));
    }
    Motion { paths, gap: gap * scale }
}

fn each_end(paths: &mut [Trajectory; 4], mut change: impl FnMut(&mut [Vec3; 4])) {
    let mut starts = paths.each_ref().map(|path| path.start);
    let mut ends = paths.each_ref().map(|path| path.end);
    change(&mut starts);
    change(&mut ends);
    for (index, path) in paths.iter_mut().enumerate() {
        *path = Trajectory { start: starts[index], end: ends[index] };
    }
}

fn give_shape(shape: Shape, paths: &mut [Trajectory; 4], random: &mut Random) {
    let nearly = random.pick(&NEARLY);
    let along = random.pick(&[0.0, 0.25, 0.5, 1.0, 2.0]);
    match shape {
        Shape::General => {}
        Shape::Flat => each_end(paths, |points| {
            for point in points {
                point.z *= nearly;
            }
        }),
        Shape::Straight => each_end(paths, |points| {
            for point in points {
                *point = Vec3::new(point.x, point.y * nearly, point.z * nearly);
            }
        }),
        Shape::Parallel => each_end(paths, |points| {
            let [a, b, c, d] = *points;
            points[3] = c + (b - a) * along + (d - c) * nearly;
        }),
        Shape::Needle => each_end(paths, |points| {
            let [_, b, c, d] = *points;
            points[3] = b.lerp(&c, along) + (d - b) * nearly;
        }),
        Shape::Coincident => {
            let (from, to) = (random.below(4), random.below(4));
            each_end(paths, |points| points[to] += (points[from] - points[to]) * (1.0 - nearly));
        }
        Shape::Still => {
            let moves = random.below(5);
            for (_, path) in paths.iter_mut().enumerate().filter(|(index, _)| *index != moves) {
                path.end = path.start;
            }
        }
        Shape::Turning => turn(paths, random),
        Shape::Meeting => {
            let place = paths[0].start;
            for path in paths {
                path.start = place + (path.start - place) * nearly;
            }
        }
    }
}

/// Turns everything about an axis, each point on a straight trajectory; with or without the first one.
fn turn(paths: &mut [Trajectory; 4], random: &mut Random) {
    let (sine, cosine) = random.pick(&[0.1_f64, 1.0, 1.6, 3.0]).sin_cos();
    let first = random.below(2);
    for path in &mut paths[first..] {
        let Vec3 { data, .. } = path.start;
        let [[x, y, z]] = data.0;
        path.end = Vec3::new(x * cosine - y * sine, x * sine + y * cosine, z);
    }
}

/// Leads the last path to a contact, of the point and the triangle or of both edges, that is one but for
/// rounding or for a little.
fn lead_to_contact(paths: &mut [Trajectory; 4], gap: f64, random: &mut Random) {
    let time = random.pick(&[0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 0.3, 1e-3, 0.999]);
    let share = |random: &mut Random| random.pick(&[0.0, 0.25, 0.5, 0.5, 1.0, 0.3]);
    let [a, b, c, d] = paths.each_ref().map(|path| path.position_at(time));
    let axis = random.pick(&[Vec3::x(), Vec3::y(), Vec3::z(), -Vec3::z()]);
    let closer = random.pick(&[0.0, 0.0, 1e-15, -1e-15, 1e-9, -1e-9]);
    let apart = axis * (gap + closer);
    let (s, t) = (share(random), share(random));
    let (led, place) = if random.is_one_in(2) {
        (0, b * (1.0 - s) * (1.0 - t) + c * s * (1.0 - t) + d * t + apart)
    } else if t > 0.0 {
        // d such that the point of c → d at t is that of a → b at s.
        (3, c + (a.lerp(&b, s) + apart - c) / t)
    } else {
        (2, a.lerp(&b, s) + apart)
    };
    let path = &mut paths[led];
    if time < 0.6 {
        path.start = (place - path.end * time) / (1.0 - time);
    } else {
        path.end = (place - path.start * (1.0 - time)) / time;
    }
}

/// Puts everything somewhere, in some size, and says in which.
fn place(paths: &mut [Trajectory; 4], is_whole: bool, random: &mut Random) -> f64 {
    let (scale, offset) = if is_whole {
        let offset = random.whole_vector(4) * random.pick(&[0.0, 1.0, 4096.0]);
        (2.0_f64.powi(random.whole(-20, 20)), offset)
    } else {
        let offset = random.vector() * random.pick(&[0.0, 1.0, 1e3, 1e6]);
        (10.0_f64.powi(random.whole(-6, 6)), offset)
    };
    let placed = |point: Vec3| (point + offset) * scale;
    *paths = paths.map(|path| Trajectory { start: placed(path.start), end: placed(path.end) });
    scale
}

/// Some coordinates moved by some roundings.
fn shaken(path: Trajectory, random: &mut Random) -> Trajectory {
    let mut shake = |point: Vec3| {
        point.map(|coordinate| match random.below(6) {
            0 => coordinate.next_up(),
            1 => coordinate.next_down(),
            2 => coordinate * (1.0 + 4.0 * f64::EPSILON),
            _ => coordinate,
        })
    };
    Trajectory { start: shake(path.start), end: shake(path.end) }
}
