// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

type Whole = [i64; 3];

fn whole(limit: i64) -> impl Strategy<Value = Whole> {
    [-limit..=limit, -limit..=limit, -limit..=limit]
}

fn to_point(whole: Whole) -> Vec3 {
    // An offset and a scale that both are exact, to be far from round numbers.
    Vec3::from(whole.map(|coordinate| (coordinate as f64 + 1_000_001.0) / 1024.0))
}

/// Six times the volume of a tetrahedron.
fn volume(corners: [Whole; 4]) -> i64 {
    let [a, b, c] = [0, 1, 2].map(|i| [0, 1, 2].map(|axis| corners[i][axis] - corners[3][axis]));
    a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// 1 inside a tetrahedron, -1 outside, 0 on its surface.
fn side_of(corners: &[Whole; 4], point: Whole) -> i64 {
    let whole_volume = volume(*corners);
    let share = |i: usize| {
        let mut piece = *corners;
        piece[i] = point;
        volume(piece).signum() * whole_volume.signum()
    };
    [0, 1, 2, 3].map(share).into_iter().min().unwrap_or(-1)
}

fn crossings(from: Whole, to: Whole, surface: &[[Whole; 3]]) -> usize {
    let crosses = |triangle: &&[Whole; 3]| {
        segment_intersects_triangle(&to_point(from), &to_point(to), &triangle.map(to_point))
    };
    surface.iter().filter(crosses).count()
}

/// Surface of a tetrahedron, its triangles wound in either sense.
fn surface(corners: &[Whole; 4], reversed: [bool; 4]) -> Vec<[Whole; 3]> {
    let face = |i: usize| {
        let [a, b, c] = [1, 2, 3].map(|next| corners[(i + next) % 4]);
        if reversed[i] { [c, b, a] } else { [a, b, c] }
    };
    (0..4).map(face).collect()
}

#[test]
fn through_the_middle_of_a_cube_one_triangle_is_crossed_on_each_side() {
    let corner = |i: i64| [i % 2 * 2 - 1, i / 2 % 2 * 2 - 1, i / 4 * 2 - 1];
    let quads =
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let cube: Vec<[Whole; 3]> = quads
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
        .map(|triangle| triangle.map(corner))
        .collect();
    // Along diagonals of faces, through edges and through corners.
    for to in (0..343_i64).map(|i| [i % 7 * 3 - 9, i / 7 % 7 * 3 - 9, i / 49 * 3 - 9]) {
        let is_outside = to.iter().any(|coordinate| coordinate.abs() > 1);
        assert_eq!(crossings([0, 0, 0], to, &cube), usize::from(is_outside), "{to:?}");
        let [x, y, z] = to;
        if is_outside {
            assert_eq!(crossings([-x, -y, -z], to, &cube), 2, "{to:?}");
        }
    }
}

#[test]
fn a_triangle_without_area_is_never_crossed() {
    let [a, b] = [[0, 0, 0], [2, 2, 2]];
    for degenerate in [[a, b, [1, 1, 1]], [a, a, b], [b, b, b]] {
        assert_eq!(crossings([0, 2, 1], [2, 0, 1], &[degenerate]), 0);
        assert_eq!(crossings([-1, -1, -1], [3, 3, 3], &[degenerate]), 0);
    }
}

#[test]
fn numbers_as_small_as_there_are_do_not_matter() {
    let triangle = [[-1.0, -1.0, 0.0], [3.0, -1.0, 0.0], [-1.0, 3.0, 0.0]].map(Vec3::from);
    let [least, small] = [f64::from_bits(1), 1e-70];
    let ends = [[least, -least, -0.125], [small, least, 0.125]].map(Vec3::from);
    assert!(segment_intersects_triangle(&ends[0], &ends[1], &triangle));
    assert!(segment_intersects_triangle(&ends[1], &ends[0], &triangle));
    // Both ends are in the plane, and moved a little to the same side of it.
    let flat = [[0.0, 0.0, -least], [0.5, 0.25, small]].map(Vec3::from);
    assert!(!segment_intersects_triangle(&flat[0], &flat[1], &triangle));
    let steep = [[0.0, 0.0, -small], [0.0, 0.0, 1e-50]].map(Vec3::from);
    assert!(!segment_intersects_triangle(&steep[0], &steep[1], &triangle));
    let steep = [[0.0, 0.0, -1e-50], [0.0, 0.0, small]].map(Vec3::from);
    assert!(segment_intersects_triangle(&steep[0], &steep[1], &triangle));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 50_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_closed_surface_is_crossed_oddly_from_inside_to_outside(
        corners in [whole(3), whole(3), whole(3), whole(3)], from in whole(4), to in whole(4),
        reversed in any::<[bool; 4]>(),
    ) {
        let sides = [side_of(&corners, from), side_of(&corners, to)];
        let count = crossings(from, to, &surface(&corners, reversed));
        prop_assert!(count <= 2 || volume(corners) == 0);
        if volume(corners) == 0 {
            prop_assert_eq!(count % 2, 0, "nothing is inside what is flat");
        } else if sides[0] != 0 && sides[1] != 0 {
            prop_assert_eq!(count % 2 == 1, sides[0] != sides[1]);
        }
    }

    #[test]
    fn it_does_not_matter_how_a_surface_is_cut(
        corners in [whole(3), whole(3), whole(3)], from in whole(3), to in whole(3),
        shares in [0_i64..=4, 0_i64..=4],
    ) {
        // A point in the plane, inside or out: the three triangles to it cover the one, or cancel.
        let [a, b, c] = corners.map(|corner| corner.map(|coordinate| coordinate * 4));
        let [from, to] = [from, to].map(|end| end.map(|coordinate| coordinate * 4));
        let apex = [0, 1, 2].map(|axis| {
            a[axis] + ((b[axis] - a[axis]) * shares[0] + (c[axis] - a[axis]) * shares[1]) / 4
        });
        let pieces = crossings(from, to, &[[a, b, apex], [b, c, apex], [c, a, apex]]);
        prop_assert_eq!(pieces % 2, crossings(from, to, &[[a, b, c]]));
    }
}
