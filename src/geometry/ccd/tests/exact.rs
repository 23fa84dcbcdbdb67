// SPDX-License-Identifier: MIT OR Apache-2.0
//! The number of contacts, even or odd, of whole-numbered motions, without any rounding.
//!
//! The relative position is a map of a prism (time and triangle) or a cube (time and both edges) into
//! space, and a contact is a point that maps to the origin. A ray from the origin crosses the image of
//! the surface of that prism or cube as often, even or odd, as there are contacts (Brochu, Edwards and
//! Bridson, Efficient geometrically exact continuous collision detection, ACM Transactions on Graphics
//! 31, 2012). The surface consists of triangles and bilinear patches. Numbers up to 2²⁰ fit.

pub(crate) type Whole = [i128; 3];

/// A point's path: its start and its end.
pub(crate) type WholePath = [Whole; 2];

pub(crate) fn minus(a: Whole, b: Whole) -> Whole {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn determinant(a: Whole, b: Whole, c: Whole) -> i128 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// A surface that the ray meets at an edge, or on which the origin lies: no count.
struct Undecided;

/// Whether the ray from the origin crosses a triangle.
fn ray_crosses(ray: Whole, [a, b, c]: [Whole; 3]) -> Result<bool, Undecided> {
    let turns = [determinant(ray, a, b), determinant(ray, b, c), determinant(ray, c, a)];
    if turns.contains(&0) {
        return Err(Undecided);
    }
    if turns.iter().any(|turn| turn.signum() != turns[0].signum()) {
        return Ok(false);
    }
    match determinant(a, b, c).signum() {
        0 => Err(Undecided),
        side => Ok(side == turns[0].signum()),
    }
}

/// Whether the ray crosses the bilinear patch with these corners, taken around, an odd number of times.
fn ray_crosses_patch(ray: Whole, corners: [Whole; 4]) -> Result<bool, Undecided> {
    let [a, b, c, d] = corners;
    let flat = ray_crosses(ray, [a, b, c])? ^ ray_crosses(ray, [a, c, d])?;
    // Patch and triangles enclose a part of the corners' tetrahedron: is the origin in there?
    let volume = determinant(minus(a, d), minus(b, d), minus(c, d)).signum();
    let shares =
        [-determinant(b, c, d), determinant(a, c, d), -determinant(a, b, d), determinant(a, b, c)]
            .map(|share| share * volume);
    if volume == 0 || shares.iter().any(|share| *share < 0) {
        return Ok(flat);
    }
    // On the patch itself both products are equal; on the triangles' side the first is larger.
    match (shares[0] * shares[2]).cmp(&(shares[1] * shares[3])) {
        _ if shares.contains(&0) => Err(Undecided),
        std::cmp::Ordering::Equal => Err(Undecided),
        order => Ok(flat ^ order.is_gt()),
    }
}

fn count_is_odd(triangles: &[[Whole; 3]], patches: &[[Whole; 4]]) -> Option<bool> {
    const RAYS: [Whole; 3] = [[89, 97, 101], [-61, 83, 127], [103, -149, 17]];
    let along = |ray: Whole| -> Result<bool, Undecided> {
        let mut is_odd = false;
        for triangle in triangles {
            is_odd ^= ray_crosses(ray, *triangle)?;
        }
        for patch in patches {
            is_odd ^= ray_crosses_patch(ray, *patch)?;
        }
        Ok(is_odd)
    };
    RAYS.into_iter().find_map(|ray| along(ray).ok())
}

fn seen_from(path: WholePath, other: WholePath) -> WholePath {
    [minus(path[0], other[0]), minus(path[1], other[1])]
}

/// Whether the point meets the triangle an odd number of times; none if they graze, start or end so.
pub(crate) fn point_meets_triangle_oddly(
    point: WholePath,
    triangle: &[WholePath; 3],
) -> Option<bool> {
    let corners = triangle.map(|corner| seen_from(corner, point));
    let ends = [0, 1].map(|end: usize| corners.map(|corner| corner[end]));
    let swept = [[0, 1], [1, 2], [2, 0]].map(|[i, j]: [usize; 2]| swept(corners[i], corners[j]));
    count_is_odd(&ends, &swept)
}

/// Whether the edges meet an odd number of times; none if they graze, start or end so.
pub(crate) fn edges_meet_oddly(first: [WholePath; 2], second: [WholePath; 2]) -> Option<bool> {
    let around =
        [[0, 0], [0, 1], [1, 1], [1, 0]].map(|[i, j]: [usize; 2]| seen_from(second[j], first[i]));
    let mut patches = [0, 1].map(|end: usize| around.map(|path| path[end])).to_vec();
    patches.extend((0..4).map(|i| swept(around[i], around[(i + 1) % 4])));
    count_is_odd(&[], &patches)
}

/// What the segment between two moving points sweeps.
fn swept(one: WholePath, other: WholePath) -> [Whole; 4] {
    [one[0], other[0], other[1], one[1]]
}
