"""Processes meet, or each of them says in one sentence why not."""

import socket
import threading
import time

import pytest

from merlax.runs import rendezvous
from merlax.types import UserError


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("", 0))
        return free.getsockname()[1]


def meet(port, *processes, seconds=5.0):
    """What each of these processes, as `(how many, which)`, has to say."""
    said: dict[int, str] = {}

    def come(place, number, which):
        try:
            rendezvous.meet(f"127.0.0.1:{port}", number, which, seconds)
            said[place] = ""
        except UserError as error:
            said[place] = str(error)

    threads = [threading.Thread(target=come, args=(place, *process)) for place, process in enumerate(processes)]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    return [said[place] for place in range(len(processes))]


def test_all_come_in_any_order(port):
    assert meet(port, (3, 2), (3, 0), (3, 1)) == ["", "", ""]


def test_who_is_missing_is_named(port):
    first, second = meet(port, (3, 0), (3, 2), seconds=0.5)
    assert first == second
    assert "Of 3 processes, number 1 did not come" in first


def test_processes_that_disagree_are_told_so(port):
    assert all("expects 3 processes, process 0 2" in said for said in meet(port, (2, 0), (3, 1)))


def test_nobody_takes_the_number_of_another(port):
    assert all("Two processes say that they are number 1" in said for said in meet(port, (3, 0), (3, 1), (3, 1)))


def test_strangers_at_the_door_are_sent_away(port):
    threading.Timer(0.2, lambda: socket.create_connection(("127.0.0.1", port)).close()).start()
    threading.Timer(0.4, lambda: meet(port, (2, 1))).start()
    assert meet(port, (2, 0)) == [""]


def test_a_port_that_is_taken_is_a_sentence(port):
    with socket.create_server(("", port)):
        (said,) = meet(port, (2, 0))
    assert "cannot be used (Address already in use)" in said


def test_a_coordinator_that_does_not_answer_is_a_sentence(port):
    (said,) = meet(port, (2, 1), seconds=0.3)
    assert "cannot be reached" in said


@pytest.mark.parametrize("address", ["here", "here:", ":80", "here:port", "here:0", "here:70000"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(UserError, match=r"such as 10\.0\.0\.1:1234"):
        rendezvous.parse(address)


def test_numbers_that_cannot_be_are_refused():
    with pytest.raises(UserError, match="processes is 0"):
        rendezvous.check(0, 0)
    with pytest.raises(UserError, match="number them from 0 to 1"):
        rendezvous.check(2, 2)
