# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests of the positions of small scenes: whether a change of the code left every bit alone.

Covers every integrator, model, solver, preconditioner and kind of contact, on 1, 2 and 7 threads.
Digests belong to one machine, so two builds are compared on the same one:

    python tests/bench/bits.py --out before.json       with the one build installed
    python tests/bench/bits.py --against before.json   with the other
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sheets
import weft

FRAME = 1.0 / sheets.FRAMES_PER_SECOND
FRAMES = 12
SIDE = 12
THREADS = (1, 2, 7)
IMPLICIT = ("bdf2", "implicit_euler", "implicit_midpoint", "imex_euler", "sbdf2", "imex_midpoint")
EXPLICIT = ("euler", "symplectic_euler", "midpoint", "verlet", "rk4")
MODELS = ("fem", "particles", "particles_membrane", "baraff_witkin", "choi_ko", "mass_spring")
MODELS = (*MODELS, "mass_spring_16")
SOFT = {"stretch_warp": 20.0, "stretch_weft": 20.0, "shear": 5.0}  # N/m, for explicit schemes

Scene = Callable[[int], bytes]


def sheet(side: int, height: float, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A level sheet of `size` m, slightly turned so that nothing is symmetric."""
    positions, quads = sheets.sheet(side, 0.0)
    cos, sin = np.cos(0.3), np.sin(0.3)
    turned = positions @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return size * turned + [0.0, 0.0, height], quads


def digest(simulation: weft.Simulation, cloths: int = 1, move: Callable | None = None) -> str:
    """Runs the scene and digests positions and velocities of every frame."""
    found = hashlib.sha256()
    for frame in range(FRAMES):
        if move is not None:
            move(simulation, frame)
        report = simulation.advance(FRAME)
        for cloth in range(cloths):
            found.update(simulation.positions(cloth).tobytes())
            found.update(simulation.velocities(cloth).tobytes())
        found.update(f"{report.steps} {report.newton_iterations} {report.contacts}".encode())
    found.update(simulation.state())
    return found.hexdigest()


def ball(integrator: str = "bdf2", soft: bool = False, **settings: object) -> Scene:
    """A sheet that falls on a ball."""

    def run(threads: int) -> str:
        material = weft.Material.preset("cotton")
        material = material.replace(**SOFT) if soft else material
        cloth = weft.Cloth(*sheet(SIDE, 0.31), material)
        collider = weft.Collider(*sheets.sphere(), friction=0.4)
        chosen = weft.Settings(integrator=integrator, threads=threads, **settings)
        return digest(weft.Simulation([cloth], [collider], chosen))

    return run


def hung(model: str = "fem", **settings: object) -> Scene:
    """A sheet in the wind that hangs by two corners and meets itself."""

    def run(threads: int) -> str:
        cloth = weft.Cloth(*sheet(SIDE, 1.0), weft.Material.preset("wool"))
        chosen = weft.Settings(model=model, wind=(3.0, 1.0, 0.0), threads=threads, **settings)
        simulation = weft.Simulation([cloth], settings=chosen)
        simulation.set_pins(0, sheets.pinned_corners(SIDE))
        return digest(simulation)

    return run


def layers(threads: int) -> str:
    """Five sheets that fall on each other and on a ball."""
    fabrics = ("silk", "denim", "jersey", "felt", "cotton")
    cloths = [
        weft.Cloth(*sheet(9, 0.31 + 0.006 * index, 0.8), weft.Material.preset(fabric))
        for index, fabric in enumerate(fabrics)
    ]
    colliders = [weft.Collider(*sheets.sphere())]
    settings = weft.Settings(threads=threads)
    return digest(weft.Simulation(cloths, colliders, settings), len(cloths))


def crossed(threads: int) -> str:
    """Two sheets that start through each other, and one of several copies."""
    flat, quads = sheet(11, 0.5, 0.5)
    upright = flat[:, [2, 0, 1]] + [-0.5, 0.0, 0.5]
    material = weft.Material.preset("cotton")
    cloths = [weft.Cloth(place, quads, material) for place in (flat, upright, flat)]
    return digest(weft.Simulation(cloths, settings=weft.Settings(threads=threads)), 3)


def through_a_solid(threads: int) -> str:
    """A sheet that starts across a ball."""
    cloth = weft.Cloth(*sheet(SIDE, 0.2), weft.Material.preset("cotton"))
    colliders = [weft.Collider(*sheets.sphere())]
    settings = weft.Settings(threads=threads)
    return digest(weft.Simulation([cloth], colliders, settings))


def squeezed(threads: int) -> str:
    """A sheet between two balls that come together, turn and part."""
    cloth = weft.Cloth(*sheet(SIDE, 0.0), weft.Material.preset("silk"))
    positions, triangles = sheets.sphere()
    colliders = [
        weft.Collider(positions + np.array([0.0, 0.0, side]), triangles) for side in (-0.4, 0.4)
    ]
    settings = weft.Settings(threads=threads, gravity=(0.0, 0.0, -2.0))
    simulation = weft.Simulation([cloth], colliders, settings)

    def move(simulation: weft.Simulation, frame: int) -> None:
        apart = 0.4 - 0.1 * np.sin(np.pi * (frame + 1) / FRAMES)
        angle = 0.05 * (frame + 1)
        turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0]])
        turned = np.column_stack([positions @ turn.T, positions[:, 2]])
        for collider, side in enumerate((-apart, apart)):
            simulation.set_collider(collider, turned + np.array([0.0, 0.0, side]))

    return digest(simulation, move=move)


def moved_pins(stiffness: float | None) -> Scene:
    """A sheet whose pinned edge moves through its own lower half."""

    def run(threads: int) -> str:
        positions, quads = sheet(SIDE, 1.0)
        simulation = weft.Simulation(
            [weft.Cloth(positions, quads, weft.Material.preset("poplin"))],
            settings=weft.Settings(threads=threads),
        )
        pins = np.arange(SIDE)

        def move(simulation: weft.Simulation, frame: int) -> None:
            target = positions[pins] + (frame + 1) * np.array([0.02, 0.06, -0.03])
            if stiffness is None:
                simulation.set_pins(0, pins, target)
            else:
                simulation.set_pins(0, pins, target, np.full(SIDE, stiffness))

        return digest(simulation, move=move)

    return run


def sewn(threads: int) -> str:
    """Two panels around a ball that are sewn together along two sides."""
    flat, quads = sheet(11, 0.0, 0.9)
    panels = [flat[:, [0, 2, 1]] + [0.0, side, 0.0] for side in (-0.35, 0.35)]
    index = np.arange(121).reshape(11, 11)
    edge = np.concatenate([index[:, 0], index[:, -1]])
    cloth = weft.Cloth(
        np.concatenate(panels),
        np.concatenate([quads, quads[:, ::-1] + 121]),
        weft.Material.preset("jersey"),
        sewing=np.stack([edge, edge + 121], axis=1),
        sewing_time=0.3,
    )
    colliders = [weft.Collider(*sheets.sphere())]
    return digest(weft.Simulation([cloth], colliders, weft.Settings(threads=threads)))


def fine(threads: int) -> str:
    """A sheet fine enough for every loop to run on several threads."""
    cloth = weft.Cloth(*sheet(70, 0.301), weft.Material.preset("cotton"))
    colliders = [weft.Collider(*sheets.sphere())]
    simulation = weft.Simulation([cloth], colliders, weft.Settings(threads=threads))
    found = hashlib.sha256()
    for _ in range(5):
        simulation.advance(FRAME)
        found.update(simulation.positions().tobytes())
    return found.hexdigest()


def scenes() -> dict[str, Scene]:
    """All scenes by name."""
    found: dict[str, Scene] = {f"ball {name}": ball(name) for name in IMPLICIT}
    found |= {f"ball {name}": ball(name, soft=True, self_collision=False) for name in EXPLICIT}
    found |= {f"hung {name}": hung(name) for name in MODELS}
    found |= {f"ball {name}": ball(solver=name) for name in ("fixed_point", "linearised")}
    for name in ("incomplete_cholesky", "block_jacobi"):
        found[f"ball {name}"] = ball(preconditioner=name)
    found["hung imex_euler fixed_point"] = hung(integrator="imex_euler", solver="fixed_point")
    found["hung linearised"] = hung(model="baraff_witkin", solver="linearised")
    found |= {"pins": moved_pins(None), "soft pins": moved_pins(50.0)}
    for scene in (layers, crossed, through_a_solid, squeezed, sewn, fine):
        found[scene.__name__.replace("_", " ")] = scene
    return found


def digests(only: str) -> dict[str, str]:
    """The digest of each scene; it ends the program where threads make a difference."""
    found = {}
    for name, scene in scenes().items():
        if only not in name:
            continue
        each = {scene(threads) for threads in THREADS}
        if len(each) > 1:
            sys.exit(f"weft: {name} differs between {THREADS} threads")
        found[name] = each.pop()
        print(f"{name}: {found[name][:16]}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="file for the digests")
    parser.add_argument("--against", type=Path, help="file of another build to compare with")
    parser.add_argument("--only", default="", help="scenes with this in their name")
    wanted = parser.parse_args()
    found = digests(wanted.only)
    if wanted.out:
        wanted.out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    if wanted.against:
        before = json.loads(wanted.against.read_text(encoding="utf-8"))
        other = [name for name in found if before.get(name) != found[name]]
        print(f"{len(found) - len(other)} of {len(found)} scenes have the same bits")
        sys.exit(f"weft: other bits in {', '.join(other)}" if other else 0)


if __name__ == "__main__":
    main()
