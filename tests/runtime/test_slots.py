"""Slots and threads: small parts that attempts share."""

from __future__ import annotations

import threading
import time

import pytest

from accordance.runtime.dispatching import Dispatcher, Threads
from accordance.runtime.slots import Bound, Slots
from tests.limits import LIMIT


@pytest.fixture
def slots() -> Slots:
    """Two queues of one executor, and one of another."""
    bounds = {
        "small": Bound(runs=1, executor="e", executor_runs=3),
        "large": Bound(runs=3, executor="e", executor_runs=3),
        "other": Bound(runs=2, executor="f"),
    }
    return Slots(bounds, most=4)


def room(slots: Slots) -> tuple[int, ...]:
    """What is left in each queue."""
    return tuple(slots.room(queue) for queue in slots.bounds)


def test_what_waits_and_what_runs_uses_up_room(slots: Slots) -> None:
    """In its queue, in its executor's other queues, and in the process."""
    assert room(slots) == (1, 3, 2)
    slots.put("a", "large")
    assert (room(slots), slots.any_waits, slots.busy) == ((1, 2, 2), True, True)
    slot = slots.begin("a", "large")
    assert (room(slots), slots.any_waits) == ((1, 2, 2), False)
    slots.put("b", "small")
    slots.put("c", "other")
    assert (room(slots), slots.any_room) == ((0, 1, 1), 1)
    slots.end(slot)
    slots.end(slot)
    assert room(slots) == (0, 2, 1)
    assert slots.running() == []


def test_work_of_a_queue_that_is_gone_may_still_end(slots: Slots) -> None:
    """It was begun under other settings."""
    assert slots.begin("a", "gone").queue == "gone"
    assert room(slots) == (1, 3, 2)


def test_a_run_begins_when_another_has_ended(slots: Slots) -> None:
    """Never before."""
    first = slots.begin("a", "small")
    begun = threading.Event()

    def begin() -> None:
        slots.begin("b", "small")
        begun.set()

    waiting = threading.Thread(target=begin)
    waiting.start()
    assert not begun.is_set()
    slots.end(first)
    assert begun.wait(LIMIT)
    waiting.join()


def test_closing_lets_nobody_wait(slots: Slots) -> None:
    """What runs is told to stop, what waits begins and finds that out."""
    first = slots.begin("a", "small")
    waiting = threading.Thread(target=slots.begin, args=("b", "small"))
    waiting.start()
    slots.close()
    waiting.join(LIMIT)
    assert first.stop.is_set()
    assert len(slots.running()) == 2


def test_what_somebody_else_has_begun_is_forgotten(slots: Slots) -> None:
    """As soon as its queue no longer has it."""
    slots.put("a", "small")
    slots.put("b", "other")
    slots.put("c", "large", is_ours=True)
    slots.forget(lambda _: iter(["b"]), seconds=60)
    assert room(slots) == (0, 1, 1)
    slots.forget(lambda _: iter(["b"]), seconds=-1)
    assert room(slots) == (1, 2, 1)


def test_queued_work_begins_where_nothing_of_ours_is_about_to(slots: Slots) -> None:
    """What any process may begin keeps room, but no slot."""
    slots.put("a", "small")
    assert (slots.room("small"), slots.free("small")) == (0, 1)
    slots.put("b", "small", is_ours=True)
    assert (slots.room("small"), slots.free("small")) == (0, 0)


def test_a_thread_whose_work_is_done_does_the_next() -> None:
    """New ones are made only while all others are busy."""
    threads = Threads()
    names: list[str] = []
    done = threading.Semaphore(0)

    def work() -> None:
        names.append(threading.current_thread().ident.__repr__())
        done.release()

    for _ in range(3):
        threads.begin(work)
        assert done.acquire(timeout=LIMIT)
        while not threads._idle:
            time.sleep(0.001)
    assert len(set(names)) == 1
    threads.stop()


def test_as_many_threads_as_there_is_work() -> None:
    """Nothing waits for other work to end."""
    threads = Threads()
    together = threading.Barrier(4)

    def meet() -> None:
        together.wait(LIMIT)

    for _ in range(3):
        threads.begin(meet)
    together.wait(LIMIT)
    threads.stop()


def test_a_ring_ends_a_long_pause() -> None:
    """Work that was queued begins at once; an error does not end the thread."""
    looks = threading.Semaphore(0)

    def look() -> None:
        looks.release()
        raise OSError("the database is away")

    dispatcher = Dispatcher(look, lambda: 3600)
    dispatcher.start()
    assert looks.acquire(timeout=LIMIT)
    dispatcher.ring()
    assert looks.acquire(timeout=LIMIT)
    dispatcher.stop()
    assert not looks.acquire(blocking=False)


def test_a_queue_at_rest_begins_nothing_until_its_time_has_come(slots: Slots) -> None:
    """The others go on; the shorter of two wishes is met by the longer."""
    slots.rest("small", 0.3)
    slots.rest("small", 0.1)
    began = time.monotonic()
    assert room(slots) == (0, 3, 2)
    slots.begin("a", "small")
    assert time.monotonic() >= began + 0.3
    assert slots.begin("b", "large").queue == "large"


def test_a_rest_ends_with_the_process(slots: Slots) -> None:
    """Nobody waits for a provider while stopping."""
    slots.rest("small", 60)
    threading.Timer(0.1, slots.close).start()
    assert slots.begin("a", "small").queue == "small"
