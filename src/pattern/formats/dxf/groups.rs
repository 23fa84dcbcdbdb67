// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of the file: pairs of a group code and a value.

use crate::error::{Error, Result};

/// A group code with its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'text> {
    pub(super) code: i32,
    pub(super) value: &'text str,
    /// Line of the value, counted from 1.
    pub(super) line: usize,
}

impl Group<'_> {
    /// The value as a number.
    pub(super) fn number(&self) -> Result<f64> {
        let number = self.value.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| malformed(self.line, self.value, "a finite number"))
    }
}

/// An entity: its name, and its groups.
#[derive(Clone, Debug)]
pub(super) struct Record<'text> {
    pub(super) name: &'text str,
    pub(super) groups: Vec<Group<'text>>,
}

impl<'text> Record<'text> {
    /// The first value of a group code.
    pub(super) fn text(&self, code: i32) -> Option<&'text str> {
        self.groups.iter().find(|group| group.code == code).map(|group| group.value)
    }

    /// The first value of a group code as a number.
    pub(super) fn number(&self, code: i32) -> Result<Option<f64>> {
        self.groups.iter().find(|group| group.code == code).map(Group::number).transpose()
    }
}

fn malformed(line: usize, found: &str, wanted: &str) -> Error {
    let shown: String = found.chars().take(40).collect();
    Error::element("dxf", "line", line, format!("\"{shown}\""), wanted)
}

/// All records of a file.
pub(super) fn records(text: &str) -> Result<Vec<Record<'_>>> {
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, code)) = lines.next() {
        if code.trim().is_empty() {
            continue;
        }
        let wanted = "a group code of ASCII DXF";
        let code = code.trim().parse().map_err(|_| malformed(index + 1, code, wanted))?;
        let Some((index, value)) = lines.next() else {
            return Err(malformed(index + 1, "end of the file", "a value for the group code"));
        };
        let group = Group { code, value: value.trim(), line: index + 1 };
        match records.last_mut() {
            _ if code == 0 => records.push(Record { name: group.value, groups: Vec::new() }),
            Some(record) => record.groups.push(group),
            // Remarks (999) may stand before the first record.
            None => {}
        }
    }
    if records.is_empty() {
        return Err(Error::value("dxf", "no records", "ASCII DXF"));
    }
    Ok(records)
}
