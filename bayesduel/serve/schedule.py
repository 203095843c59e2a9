"""Turns of judges: requests that wait together are served together, in one transaction."""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from bayesduel.serve.operations import Refused
from bayesduel.study.study import Study

__all__ = ["Turns"]


class Turns:
    """Calls that change a study, a transaction for all that wait while another one is stored.

    Parameters
    ----------
    study
        The study.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._waiting: list[tuple[Callable[[], Any], asyncio.Future[Any]]] = []
        self._server: asyncio.Task[None] | None = None

    async def take(self, call: Callable[[], Any]) -> Any:
        """Return what a call returns, or raise what it raises; it is on disk then."""
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append((call, answer))
        if self._server is None:
            self._server = asyncio.create_task(self._serve())
        return await answer

    async def _serve(self) -> None:
        while self._waiting:
            turn, self._waiting = self._waiting, []
            try:
                found = await run_in_threadpool(self._called, [call for call, _ in turn])
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

    def _called(self, calls: list[Callable[[], Any]]) -> list[Any]:
        found: list[Any] = []
        with self._study.together():
            for call in calls:
                try:
                    found.append(call())
                except (KeyError, Refused) as error:  # raised before anything is stored
                    found.append(error)
        return found
