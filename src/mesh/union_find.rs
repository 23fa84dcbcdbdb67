// SPDX-License-Identifier: MIT OR Apache-2.0
//! Union-find: groups of members that were joined directly or by others.

/// Disjoint sets of members; the root of a set is its smallest member.
#[derive(Clone, Debug)]
pub(crate) struct UnionFind {
    /// Parent of each member: a smaller one of the same set; the member itself if it is the root.
    parents: Vec<u32>,
}

impl UnionFind {
    /// `count` members, each on its own.
    pub(crate) fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect() }
    }

    /// Unites the sets of two members.
    pub(crate) fn union(&mut self, one: u32, other: u32) {
        let [one, other] = [one, other].map(|member| self.find(member));
        self.parents[one.max(other) as usize] = one.min(other);
    }

    /// Root of the set of a member: its smallest member. Paths are halved, or long chains would take a time that grows
    /// with the square of their length.
    pub(crate) fn find(&mut self, mut member: u32) -> u32 {
        while self.parents[member as usize] != member {
            let parent = self.parents[member as usize];
            self.parents[member as usize] = self.parents[parent as usize];
            member = parent;
        }
        member
    }

    /// Root of the set of every member.
    pub(crate) fn roots(mut self) -> Vec<u32> {
        (0..self.parents.len() as u32).map(|member| self.find(member)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_the_names_of_their_smallest_members() {
        let mut groups = UnionFind::new(6);
        for [one, other] in [[4, 2], [5, 4], [0, 3]] {
            groups.union(one, other);
        }
        assert_eq!(groups.roots(), [0, 1, 2, 0, 2, 2]);
    }

    /// Without path halving this would take some 10¹¹ steps.
    #[test]
    fn a_long_chain_is_followed_once() {
        let count = 500_000;
        let mut groups = UnionFind::new(count as usize);
        for last in (1..count).rev() {
            groups.union(last - 1, last);
        }
        assert!(groups.roots().iter().all(|name| *name == 0));
    }
}
