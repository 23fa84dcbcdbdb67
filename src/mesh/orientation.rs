// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consistent orientation of all triangles of a connected piece.

use super::topology::half_edges;

/// Triangles oriented like the first of their piece. In a piece that is not orientable some neighbours remain
/// inconsistent.
pub(super) fn orient_consistently(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let neighbours = neighbours(triangles);
    let mut wound = triangles.to_vec();
    let mut visited = vec![false; triangles.len()];
    let mut stack = Vec::new();
    for seed in 0..triangles.len() {
        if visited[seed] {
            continue;
        }
        visited[seed] = true;
        stack.push(seed);
        while let Some(current) = stack.pop() {
            for next in neighbours[current].into_iter().flatten() {
                if visited[next] {
                    continue;
                }
                visited[next] = true;
                if is_wound_oppositely(&wound[current], &wound[next]) {
                    wound[next].swap(1, 2);
                }
                stack.push(next);
            }
        }
    }
    wound
}

/// The triangles across the three edges of each triangle.
fn neighbours(triangles: &[[u32; 3]]) -> Vec<[Option<usize>; 3]> {
    let mut neighbours = vec![[None; 3]; triangles.len()];
    for pair in half_edges(triangles).windows(2) {
        if pair[0].key() == pair[1].key() {
            for (here, there) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                neighbours[here.triangle as usize][here.corner as usize] =
                    Some(there.triangle as usize);
            }
        }
    }
    neighbours
}

/// Whether two neighbours run along their common edge in the same direction.
fn is_wound_oppositely(first: &[u32; 3], second: &[u32; 3]) -> bool {
    (0..3).any(|i| {
        let along = [first[i], first[(i + 1) % 3]];
        (0..3).any(|j| [second[j], second[(j + 1) % 3]] == along)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flipped_faces_are_wound_like_the_first() {
        let wound = orient_consistently(&[[0, 1, 2], [1, 2, 3], [3, 2, 4]]);
        assert!(
            !is_wound_oppositely(&wound[0], &wound[1])
                && !is_wound_oppositely(&wound[1], &wound[2])
        );
        assert_eq!(wound[0], [0, 1, 2]);
    }

    #[test]
    fn a_mobius_band_is_wound_as_far_as_it_goes() {
        let band: Vec<[u32; 3]> = (0..5_u32).map(|i| [i, (i + 1) % 5, (i + 2) % 5]).collect();
        let wound = orient_consistently(&band);
        let against =
            (0..5).filter(|i| is_wound_oppositely(&wound[*i], &wound[(i + 1) % 5])).count();
        assert_eq!(against, 1);
    }
}
