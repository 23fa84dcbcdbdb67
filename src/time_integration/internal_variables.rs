// SPDX-License-Identifier: MIT OR Apache-2.0
//! Internal variables of the elements of one cloth.

use serde::{Deserialize, Serialize};

/// Internal variables of the elements of one cloth: what the fabric remembers, how far seams have closed, where a force
/// is linearised. They are the same whatever other cloths a system has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClothInternalVariables {
    /// By kind of element, up to the last kind that has any: whether a system has the later kinds, as seams, depends on
    /// other cloths.
    by_kind: Vec<Vec<f64>>,
}

impl ClothInternalVariables {
    /// Takes the variables of a kind of element.
    pub(crate) fn set_kind(&mut self, kind: usize, values: Vec<f64>) {
        if !values.is_empty() {
            self.by_kind.resize_with(self.by_kind.len().max(kind + 1), Vec::new);
            self.by_kind[kind] = values;
        }
    }

    /// Variables of a kind of element; empty if it has none.
    pub(crate) fn of_kind(&self, kind: usize) -> &[f64] {
        self.by_kind.get(kind).map_or(&[], Vec::as_slice)
    }

    /// Whether every list is empty or has the count of its kind of element.
    pub(crate) fn fit(&self, counts: &[usize]) -> bool {
        let mut each = self.by_kind.iter().enumerate();
        each.all(|(kind, own)| own.is_empty() || counts.get(kind) == Some(&own.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three numbers of the second kind.
    fn variables() -> ClothInternalVariables {
        let mut variables = ClothInternalVariables::default();
        variables.set_kind(1, vec![7.0, 8.0, 9.0]);
        variables
    }

    #[test]
    fn kinds_without_variables_leave_no_trace() {
        let mut with_seams_elsewhere = variables();
        with_seams_elsewhere.set_kind(2, Vec::new());
        assert_eq!(with_seams_elsewhere, variables());
        let lists = [0, 1, 2].map(|kind| variables().of_kind(kind).to_vec());
        assert_eq!(lists, [vec![], vec![7.0, 8.0, 9.0], vec![]]);
    }

    #[test]
    fn lists_fit_if_they_are_empty_or_of_the_right_length() {
        assert!(variables().fit(&[5, 3]) && variables().fit(&[0, 3, 2]));
        assert!(ClothInternalVariables::default().fit(&[]));
        for counts in [&[5, 4][..], &[3, 5], &[3], &[]] {
            assert!(!variables().fit(counts), "{counts:?}");
        }
    }
}
