"""Turns of judges: requests that wait together are served together, in one transaction.

First all that they did is stored, then each is asked the next pair: the posterior is brought up to
the answers of a turn once.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from bayesduel.serve.operations import Refused
from bayesduel.study.study import Study

__all__ = ["Turns"]

type Steps = tuple[Callable[[], None], Callable[[], Any]]


class Turns:
    """Requests of judges, a transaction for all that wait while another one is stored."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._waiting: list[tuple[Steps, asyncio.Future[Any]]] = []
        self._server: asyncio.Task[None] | None = None

    async def take(self, do: Callable[[], None], state: Callable[[], Any]) -> Any:
        """Do something, and return what `state` says after it; it is on disk then.

        Raises KeyError or Refused: what `do` or `state` raised, before they stored anything.
        """
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(((do, state), answer))
        if self._server is None:
            self._server = asyncio.create_task(self._serve())
        return await answer

    async def _serve(self) -> None:
        while self._waiting:
            turn = self._waiting
            self._waiting = []
            try:
                found = await run_in_threadpool(self._called, [steps for steps, _ in turn])
            except Exception as error:  # nothing is stored: all of them may be sent again
                found = [error] * len(turn)
            for (_, answer), result in zip(turn, found, strict=True):
                if answer.cancelled():
                    continue
                if isinstance(result, Exception):
                    answer.set_exception(result)
                else:
                    answer.set_result(result)
        self._server = None

    def _called(self, turn: list[Steps]) -> list[Any]:
        found: list[Any] = [None] * len(turn)
        with self._study.together():
            for step in (0, 1):
                for k, steps in enumerate(turn):
                    if found[k] is None:
                        try:
                            found[k] = steps[step]()
                        except (KeyError, Refused) as error:
                            found[k] = error
        return found
