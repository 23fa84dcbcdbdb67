// SPDX-License-Identifier: MIT OR Apache-2.0
//! Continuous detection: when a moving point first comes close to a moving triangle, and a moving edge
//! to another, everything moving evenly on straight paths from time 0 to time 1.
//!
//! **Both questions are one.** Seen from the point, the triangle is the convex hull of three moving
//! points xᵢ; the differences of two edges' ends are four. Things come within the gap g when that hull
//! reaches the ball of radius g about the origin.
//!
//! **Method.** Most pairs are told apart by one plane at rest (`static_plane`). The others take
//! conservative advancement along turning planes. At the time reached, the plane through the closest
//! point, with the unit normal n from the origin to the hull, clears the whole hull: n·xᵢ > g. It goes on
//! to do so until the first root of one of the functions n·xᵢ(t) − g; up to there nothing can have
//! touched, and there the next plane is taken. A plane at rest would creep along beside a triangle that
//! turns, so a plane may also turn on as it turned over the round before: n(t) = n + t m. The functions
//! are quadratic then, and the rounds converge like the secant method: one or two where nothing happens,
//! eight or so to a hit at the full tolerance. No point can slip past an inside test, for there is none:
//! the distance answers whether an edge is passed on this side or that, and neighbouring triangles
//! overlap by the tolerance.
//!
//! **Why nothing is missed.** Closest points only propose planes and roots only propose times; neither
//! has to be right. All that is relied on is that each
//!
//! qᵢ(t) = (n + t m)·(xᵢ + t wᵢ) − g (1 + t n·m + t² m·m / 2),   |n| = 1,   t |m| ≤ 1,
//!
//! stays above a bound on its own rounding, where xᵢ + t wᵢ is the rest of the path. The last bracket is
//! at least |n + t m|, so where all qᵢ are positive, all xᵢ and hence their hull are farther than g from
//! the origin. Let u = 2⁻⁵³, and R be the largest coordinate of any xᵢ(0) and xᵢ(1). A difference of two
//! given numbers is rounded by a relative u, wherever the origin is. In the norm of sums |n| and t |m| are
//! at most √3, and g < √3 R or n·xᵢ > g would not have held. Interpolating xᵢ then costs 18 u R; the
//! three coefficients 13, 41 and 24 u R; evaluating the quadratic 60 u R; a time rounded by 3 u, as a
//! movement of xᵢ, 21 u R; an n that is a unit vector but for rounding 6 u R. Together that is less than
//! 2⁸ u R, and qᵢ is held above 2¹¹ u R = 2⁻⁴² R. (The smallest normal number is added, which covers
//! numbers too small for a relative precision.)
//!
//! **What is returned** is a time before which every distance exceeds the gap: exactly so for the real
//! lines between the given numbers, while positions rounded at that time have that rounding besides. At
//! that time itself the distance exceeds the gap by no more than 2⁻⁴⁰ R; where the gap is zero and an
//! edge or a corner is met, or a triangle is a needle, 2⁻²⁴ R, as a plane needs some distance to take its
//! direction from. What passes at a larger distance is not reported. An exception is a path so close
//! along a turning triangle, about 10⁻⁶ R and never seen to be 10⁻⁴ R, that the rounds run out: the time
//! reached is returned, which is early and never late.

mod static_plane;
#[cfg(test)]
mod tests;

pub use static_plane::{edge_edge_stay_separated, point_triangle_stay_separated};

use super::{
    aabb_tree::Aabb,
    closest_point::{closest_point_on_triangle, closest_points_of_segments},
};
use crate::vec3::Vec3;

/// Tolerance of distances, relative to the largest coordinate (see above).
const RELATIVE_TOLERANCE: f64 = 1.0 / (1_u64 << 40) as f64;

/// Parameters of conservative advancement.
struct ConservativeAdvancementParameters {
    /// Bound of the rounds of planes of a pair: sixty times the rounds of a hit, exceeded only in
    /// long passages close to the gap. Effect: larger takes longer there; smaller reports hits early
    /// in such passages, never late. Evidence:
    /// `work_is_bounded_where_a_turning_triangle_is_followed_closely`; no scene of the hostile suite
    /// depends on it (1 000 000 tried).
    max_rounds: usize,
}

impl ConservativeAdvancementParameters {
    const DEFAULT: Self = Self { max_rounds: 512 };
}

/// Straight trajectory of a point, travelled evenly from time 0 to time 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trajectory {
    /// Position at time 0, in m.
    pub start: Vec3,
    /// Position at time 1, in m.
    pub end: Vec3,
}

impl Trajectory {
    /// Position at a time, in m.
    #[must_use]
    pub fn position_at(&self, time: f64) -> Vec3 {
        self.start * (1.0 - time) + self.end * time
    }

    /// Trajectory relative to a point that moves along `other`.
    fn relative_to(&self, other: &Self) -> Self {
        Self { start: self.start - other.start, end: self.end - other.end }
    }
}

/// First time at which two primitives come within the gap, and the place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CcdHit<const WEIGHTS: usize> {
    /// From 0 to 1; 0 if they are within the gap at the start.
    pub time: f64,
    /// Barycentric coordinates on the triangle, or positions along both edges from 0 to 1.
    pub weights: [f64; WEIGHTS],
    /// Unit vector from the triangle to the point, or from the second edge to the first. Where they
    /// touch at the start, a normal to both of either sign; zero if there is none.
    pub direction: Vec3,
}

/// First contact of `point` with `triangle`: the time at which their distance has fallen to `gap`, in m
/// and not negative. The paths must be finite. Where many pairs are asked about, ask [`point_triangle_stay_separated`]
/// first.
#[must_use]
pub fn point_triangle_ccd(
    point: &Trajectory,
    triangle: &[Trajectory; 3],
    gap: f64,
) -> Option<CcdHit<3>> {
    let [a, b, c] = triangle;
    let [start, end] = endpoints([point, a, b, c]);
    if point_triangle_stay_separated(start, end, gap) {
        return None;
    }
    let corners = triangle.map(|corner| corner.relative_to(point));
    conservative_advancement(&MovingHull::new(corners, gap), |corners| {
        let closest = closest_point_on_triangle(&Vec3::zeros(), corners);
        HullClosestPoint {
            weights: closest.weights,
            point: -closest.offset,
            normal: (corners[1] - corners[0]).cross(&(corners[2] - corners[0])),
        }
    })
}

/// First contact of two edges: the time at which their distance has fallen to `gap`, in m and not
/// negative. The paths must be finite. Where many pairs are asked about, ask [`edge_edge_stay_separated`] first.
#[must_use]
pub fn edge_edge_ccd(
    first: &[Trajectory; 2],
    second: &[Trajectory; 2],
    gap: f64,
) -> Option<CcdHit<2>> {
    let ([a, b], [c, d]) = (first, second);
    let [start, end] = endpoints([a, b, c, d]);
    if edge_edge_stay_separated(start, end, gap) {
        return None;
    }
    let ends =
        [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[i, j]: [usize; 2]| second[j].relative_to(&first[i]));
    conservative_advancement(&MovingHull::new(ends, gap), |ends| {
        // As seen from the start of the first edge.
        let along = ends[0] - ends[2];
        let closest = closest_points_of_segments(&[Vec3::zeros(), along], &[ends[0], ends[1]]);
        HullClosestPoint {
            weights: closest.parameters,
            point: -closest.offset,
            normal: along.cross(&(ends[1] - ends[0])),
        }
    })
}

/// Positions at the start, and positions at the end.
fn endpoints(paths: [&Trajectory; 4]) -> [[&Vec3; 4]; 2] {
    [paths.map(|path| &path.start), paths.map(|path| &path.end)]
}

/// Point of a hull closest to the origin.
struct HullClosestPoint<const WEIGHTS: usize> {
    weights: [f64; WEIGHTS],
    point: Vec3,
    /// Normal of the triangle or of both edges, of any length.
    normal: Vec3,
}

/// Takes plane after plane, until one clears the rest of the motion or none gets any further.
fn conservative_advancement<const POINTS: usize, const WEIGHTS: usize>(
    hull: &MovingHull<POINTS>,
    closest_to_origin: impl Fn(&[Vec3; POINTS]) -> HullClosestPoint<WEIGHTS>,
) -> Option<CcdHit<WEIGHTS>> {
    let max_rounds = ConservativeAdvancementParameters::DEFAULT.max_rounds;
    if hull.is_separated_on_axis() {
        return None;
    }
    let mut time = 0.0;
    let mut before = None;
    for round in 1.. {
        let points = hull.points_at(time);
        let closest = closest_to_origin(&points);
        let (normal, clearance) = separating_plane(&points, &closest);
        let is_clear = clearance > hull.gap + hull.tolerance && round < max_rounds;
        let next =
            if is_clear { hull.separated_until(time, &points, &normal, before) } else { time };
        if next >= 1.0 {
            break;
        }
        if next <= time || !is_clear {
            return Some(CcdHit { time, weights: closest.weights, direction: -normal });
        }
        before = Some((time, normal));
        time = next;
    }
    None
}

/// Unit normal of a plane between origin and hull, and the smallest distance of a point along it.
fn separating_plane<const POINTS: usize, const WEIGHTS: usize>(
    points: &[Vec3; POINTS],
    closest: &HullClosestPoint<WEIGHTS>,
) -> (Vec3, f64) {
    let with_clearance = |normal: Vec3| {
        let along = points.iter().map(|point| normal.dot(point));
        (normal, along.fold(f64::INFINITY, f64::min))
    };
    let distance = closest.point.norm();
    let length = closest.normal.norm();
    let touches = distance == 0.0;
    let to_point = with_clearance(closest.point / if touches { 1.0 } else { distance });
    if length > 0.0 {
        // Up close the normal knows the direction better than a short vector does; beside the triangle,
        // or in a needle, it may not.
        let side = closest.normal.dot(&closest.point);
        let across = with_clearance(closest.normal / length.copysign(side));
        if touches || across.1 > to_point.1 {
            return across;
        }
    }
    to_point
}

/// Moving points whose convex hull is to stay farther than `gap` from the origin.
struct MovingHull<const POINTS: usize> {
    trajectories: [Trajectory; POINTS],
    aabb: Aabb,
    gap: f64,
    /// Distances to the gap below this count as a hit, in m.
    tolerance: f64,
}

impl<const POINTS: usize> MovingHull<POINTS> {
    fn new(trajectories: [Trajectory; POINTS], gap: f64) -> Self {
        debug_assert!(gap >= 0.0, "a gap of {gap}");
        let aabb = Aabb::from_points(trajectories.iter().flat_map(|path| [&path.start, &path.end]));
        let extent = aabb.lower.amax().max(aabb.upper.amax());
        debug_assert!(extent.is_finite(), "a path that is not finite");
        Self { trajectories, aabb, gap, tolerance: extent * RELATIVE_TOLERANCE + f64::MIN_POSITIVE }
    }

    /// Whether a plane across one of the axes clears the whole motion.
    fn is_separated_on_axis(&self) -> bool {
        let far = self.gap + self.tolerance;
        self.aabb.lower.max() > far || self.aabb.upper.min() < -far
    }

    fn points_at(&self, time: f64) -> [Vec3; POINTS] {
        std::array::from_fn(|i| self.trajectories[i].position_at(time))
    }

    /// Time until which a plane of this normal clears the hull, at rest or turning on as it did since
    /// the time and normal `before`. At least 1 if it does so to the end.
    fn separated_until(
        &self,
        time: f64,
        points: &[Vec3; POINTS],
        normal: &Vec3,
        before: Option<(f64, Vec3)>,
    ) -> f64 {
        let rest = 1.0 - time;
        let mut fraction = self.separated_fraction(points, normal, &Vec3::zeros());
        if let Some((earlier, old_normal)) = before
            && fraction < 1.0
        {
            let turning = (normal - old_normal) * (rest / (time - earlier));
            fraction = fraction.max(self.separated_fraction(points, normal, &turning));
        }
        time + fraction * rest
    }

    /// Fraction of the rest of the motion, from `points` to the end, in which a plane of the normal
    /// `normal + fraction * turning` is proved to clear the hull.
    fn separated_fraction(&self, points: &[Vec3; POINTS], normal: &Vec3, turning: &Vec3) -> f64 {
        let turning_squared = turning.norm_squared();
        let margin = 0.5 * self.tolerance;
        let clearances: [ClearancePolynomial; POINTS] = std::array::from_fn(|i| {
            let displacement = self.trajectories[i].end - points[i];
            ClearancePolynomial {
                constant: normal.dot(&points[i]) - self.gap - margin,
                linear: turning.dot(&points[i]) + normal.dot(&displacement)
                    - self.gap * normal.dot(turning),
                quadratic: turning.dot(&displacement) - 0.5 * self.gap * turning_squared,
            }
        });
        let mut fraction = 1.0 / turning_squared.sqrt().max(1.0);
        for clearance in &clearances {
            if clearance.minimum_until(fraction) < 0.0 {
                fraction = fraction.min(clearance.first_root());
            }
        }
        let is_proved = clearances.iter().all(|it| it.minimum_until(fraction) >= -0.5 * margin);
        if is_proved { fraction } else { 0.0 }
    }
}

/// constant + linear t + quadratic t², with a constant that is not negative.
struct ClearancePolynomial {
    constant: f64,
    linear: f64,
    quadratic: f64,
}

impl ClearancePolynomial {
    /// Its least value for t from 0 to `end`.
    fn minimum_until(&self, end: f64) -> f64 {
        let least = self.constant.min(self.constant + end * (self.linear + end * self.quadratic));
        // Convex, with its lowest point within the range.
        if self.linear < 0.0 && self.linear + 2.0 * end * self.quadratic > 0.0 {
            least.min(self.constant - 0.25 * self.linear * self.linear / self.quadratic)
        } else {
            least
        }
    }

    /// The t > 0 at which it first falls through zero; it must do so.
    fn first_root(&self) -> f64 {
        let discriminant = self.linear * self.linear - 4.0 * self.constant * self.quadratic;
        let root = discriminant.max(0.0).sqrt();
        // Of the two forms of the solution the one in which nothing cancels.
        if self.linear < 0.0 {
            2.0 * self.constant / (root - self.linear)
        } else {
            (self.linear + root) / (-2.0 * self.quadratic)
        }
    }
}
