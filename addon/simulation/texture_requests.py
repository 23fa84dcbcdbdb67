# SPDX-License-Identifier: GPL-3.0-or-later
"""Texture evaluation for the worker: only the main thread may access Blender data."""

import queue
import threading
from dataclasses import dataclass, field

import numpy as np

from ..force_fields import snapshot


@dataclass
class _Request:
    name: str
    points: np.ndarray
    served: threading.Event = field(default_factory=threading.Event)
    colors: np.ndarray | None = None


class TextureRequests:
    """Queue of requests of the worker, served by the main thread until `close`."""

    def __init__(self) -> None:
        self._requests: queue.Queue[_Request] = queue.Queue()
        self._closed = threading.Event()

    def evaluate(self, name: str, points: np.ndarray) -> np.ndarray:
        """Red, green, blue and intensity at points; called by the worker, waits for the main
        thread.
        """
        request = _Request(name, points)
        self._requests.put(request)
        while not request.served.wait(0.1):
            if self._closed.is_set():
                raise CancelledError
        return request.colors

    def serve(self) -> None:
        """Evaluates all pending requests; called by the main thread."""
        while True:
            try:
                request = self._requests.get_nowait()
            except queue.Empty:
                return
            request.colors = snapshot.evaluate_texture(request.name, request.points)
            request.served.set()

    def close(self) -> None:
        """Cancels pending and future requests."""
        self._closed.set()


class CancelledError(Exception):
    """The bake was cancelled while a frame waited for a texture; the frame is incomplete."""
