// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of patterns: GarmentCode JSON, SVG and DXF-AAMA (ASTM D6673) in; JSON and SVG out.

mod drawing;
mod dxf;
mod json;
mod svg;

use super::{Contour, Pattern};
use crate::error::{Error, Result};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON as GarmentCode writes it, with fields of ours.
    Json,
    /// Drawing in millimetres.
    Svg,
    /// DXF-AAMA, ASTM D6673.
    Dxf,
}

impl Format {
    /// The form that the ending of a path stands for.
    ///
    /// # Errors
    /// Names the path if its ending is another.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("json") => Ok(Self::Json),
            Some("svg") => Ok(Self::Svg),
            Some("dxf") => Ok(Self::Dxf),
            _ => {
                Err(Error::value("path", path.display(), "a name that ends in .json, .svg or .dxf"))
            }
        }
    }
}

impl Pattern {
    /// Reads a pattern from the text of a file.
    ///
    /// # Errors
    /// Names what is malformed, with its panel and edge.
    pub fn parse(text: &str, format: Format) -> Result<Self> {
        match format {
            Format::Json => json::parse(text),
            Format::Svg => svg::parse(text),
            Format::Dxf => dxf::parse(text),
        }
    }

    /// Text of a file of the pattern.
    ///
    /// # Errors
    /// There is no writer for this form, or a stitch or notch names a panel or edge that does not exist.
    pub fn text(&self, format: Format) -> Result<String> {
        self.check_references()?;
        match format {
            Format::Json => json::text(self),
            Format::Svg => Ok(svg::text(self)),
            Format::Dxf => Err(Error::value("format", "DXF, which is only read", "JSON or SVG")),
        }
    }

    /// Reads a pattern from a file; the ending of its name says the form.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is malformed.
    pub fn read(path: &Path) -> Result<Self> {
        let format = Format::of(path)?;
        let bytes = fs::read(path).map_err(|cause| refused(path, &cause))?;
        Self::parse(&String::from_utf8_lossy(&bytes), format)
    }

    /// Writes the pattern to a file, whole or not at all; the ending of its name says the form.
    ///
    /// # Errors
    /// There is no writer for the form, or the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = self.text(Format::of(path)?)?;
        let unfinished = unfinished_path(path);
        let written =
            write_durably(&unfinished, &text).and_then(|()| fs::rename(&unfinished, path));
        written.map_err(|cause| {
            // Nothing is to be left behind; that it cannot be removed either says nothing new.
            let _ = fs::remove_file(&unfinished);
            refused(path, &cause)
        })
    }

    /// That the panels and edges exist which stitches and notches name by index.
    fn check_references(&self) -> Result<()> {
        for (index, stitch) in self.stitches.iter().enumerate() {
            for run in &stitch.runs {
                let wanted = format!("a contour of one of {} panels", self.panels.len());
                let contour = self.contour(run).ok_or_else(|| {
                    Error::element("stitches", "panel", index, run.panel, &wanted)
                })?;
                check_edges(&run.edges, contour, "stitches", index)?;
            }
        }
        for panel in &self.panels {
            for (index, notch) in panel.notches.iter().enumerate() {
                let argument = format!("panel \"{}\"", panel.name);
                check_edges(&[notch.edge], &panel.outline, &argument, index)?;
            }
        }
        Ok(())
    }
}

fn check_edges(edges: &[usize], contour: &Contour, argument: &str, index: usize) -> Result<()> {
    let count = contour.edges.len();
    match edges.iter().find(|edge| **edge >= count) {
        Some(edge) => {
            let wanted = format!("one below {count}");
            Err(Error::element(argument, "edge", index, edge, &wanted))
        }
        None => Ok(()),
    }
}

fn write_durably(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn unfinished_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.unfinished", std::process::id()));
    path.with_file_name(name)
}

fn refused(path: &Path, cause: &std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), reason: cause.to_string() }
}
