// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::{
    response::tests::{LOWER, UPPER, at_heights, begin, response, step_between},
    vec3::Vec3,
};

#[test]
fn displacements_that_cross_nothing_are_not_truncated() {
    let mut response = step_between([[5.0e-3, 0.1], [2.5e-3, 0.1]], 0.0);
    let mut positions = at_heights([1.0e-3, 0.1]);
    let result = response.truncate_displacements(&mut positions);
    assert_eq!(positions, at_heights([1.0e-3, 0.1]));
    assert!(result.truncated_vertices.is_empty() && result.violating_pair_count == 0);
}

#[test]
fn truncated_displacements_stop_before_the_crossing() {
    let (start, target) = ([4.0e-3, 0.1], [-2.0e-3, 0.09]);
    let mut response = step_between([start, [2.5e-3, 0.09]], 0.0);
    let mut positions = at_heights(target);
    let result = response.truncate_displacements(&mut positions);
    assert_eq!(result.truncated_vertices, [0, 1, 2]);
    assert_eq!((result.violating_pair_count, result.frozen_vertex_count), (0, 0));
    assert!(response.violations(&positions).is_empty());
    // Half of the way leads to 1 mm above.
    assert_eq!(positions[..3], at_heights([1.0e-3, 0.1])[..3]);
    assert_eq!(positions[3..], at_heights(target)[3..]);
}

#[test]
fn vertices_without_room_are_frozen_at_their_start() {
    let start = [1.0e-4, 0.1];
    let mut response = step_between([start, [1.0e-4, 0.1]], 0.0);
    let mut positions = at_heights([-0.5, 0.1]);
    let result = response.truncate_displacements(&mut positions);
    assert_eq!((result.violating_pair_count, result.frozen_vertex_count), (0, 3));
    assert_eq!(positions, at_heights(start));
}

#[test]
fn pinned_cloth_pushes_free_cloth_ahead() {
    let [starts, ends] = [[20.0e-3, 30.0e-3], [20.0e-3, 15.0e-3]].map(at_heights);
    let mut response = response(&starts, 0.0);
    begin(&mut response, [&starts, &ends], [false, false, false, true, true, true]);
    let mut positions = ends.clone();
    let result = response.truncate_displacements(&mut positions);
    assert_eq!((result.violating_pair_count, result.frozen_vertex_count), (0, 0));
    assert_eq!(positions[UPPER], ends[UPPER]);
    for position in &positions[LOWER] {
        assert!(position.z > 0.0 && position.z < 15.0e-3, "{position:?}");
    }
    let moved: Vec<Vec3> = LOWER.map(|vertex| positions[vertex] - starts[vertex]).collect();
    assert!(moved.iter().all(|one| one.z < -5.0e-3), "{moved:?}");
}
