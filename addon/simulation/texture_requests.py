# SPDX-License-Identifier: GPL-3.0-or-later
"""Textures are Blender's data, so the thread that simulates asks the main thread for them."""

import queue
import threading
from dataclasses import dataclass, field

import numpy as np

from ..force_fields import snapshot


@dataclass
class _Question:
    name: str
    points: np.ndarray
    answered: threading.Event = field(default_factory=threading.Event)
    answer: np.ndarray | None = None


class Textures:
    """Questions of one thread, answered by the other until `close`."""

    def __init__(self) -> None:
        self._questions: queue.Queue[_Question] = queue.Queue()
        self._closed = threading.Event()

    def ask(self, name: str, points: np.ndarray) -> np.ndarray:
        """Red, green, blue and intensity at points; waits for the main thread."""
        question = _Question(name, points)
        self._questions.put(question)
        while not question.answered.wait(0.1):
            if self._closed.is_set():
                raise CancelledError
        return question.answer

    def answer(self) -> None:
        """Looks up what was asked for; called by the main thread."""
        while True:
            try:
                question = self._questions.get_nowait()
            except queue.Empty:
                return
            question.answer = snapshot.look_up(question.name, question.points)
            question.answered.set()

    def close(self) -> None:
        """Nothing will be answered any more."""
        self._closed.set()


class CancelledError(Exception):
    """The bake was cancelled while a frame waited for a texture: this frame is not finished."""
