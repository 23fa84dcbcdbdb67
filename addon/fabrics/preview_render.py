# SPDX-License-Identifier: GPL-3.0-or-later
"""Preview image of a fabric: a drape test, simulated by the library and rasterised.

Independent of Blender's data; the renderer is a depth buffer over triangles.
"""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..force_fields.forces import vertex_normals
from .look import Look, brightness

SIDE, COUNT = 0.42, 33  # side in m, vertices per side
RADIUS = 0.1  # of the sphere, in m
PINNED_RADIUS = 0.02  # radius of the pinned disc, in m
FRAMES, FRAME_SECONDS = 40, 1.0 / 24.0
PIXELS, SAMPLES = 128, 3  # per side of the image, per side of a pixel
LIGHT = np.array((-0.35, -0.45, 0.82))
VIEW = np.array((0.0, -0.78, 0.62))  # direction towards the camera
WIDTH = 0.44  # of the visible area, in m


def make(library: Any, fields: dict[str, float | None], look: Look, path: Path) -> None:
    """Simulates a fabric and writes its preview as a PNG file, atomically."""
    positions, triangles = drape(library, fields)
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(png(picture(positions, triangles, look)))
    unfinished.replace(path)


# --- simulation -------------------------------------------------------------------------------


def drape(library: Any, fields: dict[str, float | None]) -> tuple[np.ndarray, np.ndarray]:
    """Positions and triangles of a square sheet draped over a sphere."""
    flat = flat_places()
    points = np.column_stack([flat, np.full(len(flat), RADIUS + 0.004)])
    index = np.arange(COUNT * COUNT).reshape(COUNT, COUNT)
    quads = [index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]]
    faces = np.stack([corner.ravel() for corner in quads], axis=1)
    cloth = library.Cloth(points, faces, library.Material.from_dict(fields))
    ball = library.Collider(*_sphere(), friction=0.6, thickness=0.001)
    simulation = library.Simulation([cloth], [ball], library.Settings())
    # Pinned at the top, as in a drape meter: stiff fabrics would slide off.
    simulation.set_pins(0, np.flatnonzero(np.linalg.norm(points[:, :2], axis=1) < PINNED_RADIUS))
    for _ in range(FRAMES):
        simulation.advance(FRAME_SECONDS)
    triangles = np.concatenate([faces[:, :3], faces[:, [0, 2, 3]]])
    return simulation.positions(0), triangles


def flat_places() -> np.ndarray:
    """Where the vertices of the sheet are in the flat fabric, in m."""
    line = np.linspace(-SIDE / 2, SIDE / 2, COUNT)
    x, y = np.meshgrid(line, line)
    return np.column_stack([x.ravel(), y.ravel()])


def _sphere(rings: int = 24, segments: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """A closed, triangulated sphere about the origin."""
    up = np.linspace(0.0, np.pi, rings + 1)[1:-1, None]
    around = np.linspace(0.0, 2 * np.pi, segments, endpoint=False)[None]
    shape = np.broadcast_shapes(up.shape, around.shape)
    band = np.stack(
        [
            np.sin(up) * np.cos(around),
            np.sin(up) * np.sin(around),
            np.broadcast_to(np.cos(up), shape),
        ],
        axis=-1,
    ).reshape(-1, 3)
    points = np.concatenate([band, [(0, 0, 1), (0, 0, -1)]]) * RADIUS
    index = np.arange((rings - 1) * segments).reshape(rings - 1, segments)
    following = np.roll(index, -1, axis=1)
    top, bottom = len(band), len(band) + 1
    triangles = [
        np.stack([index[:-1], index[1:], following[1:]], -1).reshape(-1, 3),
        np.stack([index[:-1], following[1:], following[:-1]], -1).reshape(-1, 3),
        np.stack([np.full(segments, top), index[0], following[0]], -1),
        np.stack([np.full(segments, bottom), following[-1], index[-1]], -1),
    ]
    return points, np.concatenate(triangles)


# --- drawing ----------------------------------------------------------------------------------


def picture(positions: np.ndarray, triangles: np.ndarray, look: Look) -> np.ndarray:
    """Pixels as red, green, blue and opacity, uint8 `(PIXELS, PIXELS, 4)`."""
    size = PIXELS * SAMPLES
    eye = VIEW / np.linalg.norm(VIEW)
    right = np.array((1.0, 0.0, 0.0))
    up = np.cross(eye, right)
    centre = (positions.min(axis=0) + positions.max(axis=0)) / 2
    camera = (positions - centre) @ np.stack([right, -up, eye], axis=1)
    screen = camera * (size / WIDTH) + (size / 2, size / 2, 0.0)
    normals = np.column_stack([vertex_normals(positions, triangles), flat_places()])
    color = np.zeros((size, size, 4))
    depth = np.full((size, size), -np.inf)
    for triangle in triangles.tolist():
        _fill(color, depth, screen[triangle], normals[triangle], eye, look)
    blocks = color.reshape(PIXELS, SAMPLES, PIXELS, SAMPLES, 4).mean(axis=(1, 3))
    opacity = np.maximum(blocks[..., 3:], 1e-6)
    blocks[..., :3] = blocks[..., :3] / opacity
    return np.clip(blocks * 255 + 0.5, 0, 255).astype(np.uint8)


def _fill(
    color: np.ndarray,
    depth: np.ndarray,
    corners: np.ndarray,
    surface: np.ndarray,
    eye: np.ndarray,
    look: Look,
) -> None:
    """Rasterises one triangle with a depth test; `surface` has normals and flat places."""
    low = np.maximum(np.floor(corners[:, :2].min(axis=0)).astype(int), 0)
    high = np.minimum(np.ceil(corners[:, :2].max(axis=0)).astype(int) + 1, depth.shape[0])
    (ax, ay), (bx, by), (cx, cy) = corners[:, :2]
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if (high <= low).any() or abs(area) < 1e-9:
        return
    y, x = np.mgrid[low[1] : high[1], low[0] : high[0]] + 0.5
    second = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
    third = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
    weights = np.stack([1.0 - second - third, second, third], axis=-1)
    height = weights @ corners[:, 2]
    window = (slice(low[1], high[1]), slice(low[0], high[0]))
    visible = (weights >= -1e-9).all(axis=-1) & (height > depth[window])
    found = weights[visible] @ surface
    relief = brightness(look.weave, found[:, 3:])
    visible[visible] = relief > 0.0  # through a hole what is behind is seen
    depth[window][visible] = height[visible]
    solid = relief > 0.0
    color[window][visible] = _shade(found[solid, :3], eye, look, relief[solid])


def _shade(normals: np.ndarray, eye: np.ndarray, look: Look, relief: np.ndarray) -> np.ndarray:
    """Blinn-Phong shading with one light, ambient term and a colour per side."""
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    front = (normals @ eye >= 0.0)[:, None]
    facing = np.where(front, normals, -normals)
    light = LIGHT / np.linalg.norm(LIGHT)
    diffuse = 0.3 + 0.7 * np.maximum(facing @ light, 0.0)
    specular = np.maximum(facing @ _unit(light + eye), 0.0) ** look.gloss
    base = np.where(front, look.front, look.back) * (relief * diffuse)[:, None]
    base += look.sheen * specular[:, None]
    return np.column_stack([np.clip(base, 0.0, 1.0), np.ones(len(base))])


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def png(pixels: np.ndarray) -> bytes:
    """PNG file of 8-bit RGBA pixels."""
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    content = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    ]
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in content
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
