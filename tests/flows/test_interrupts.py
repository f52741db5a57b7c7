from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tasks import interrupts
from tests.flows.test_pool import ROOT


def test_an_interrupt_is_answered_at_once_and_one_that_was_dropped_is_raised_again(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(interrupts, "_came", False)
    before = signal.getsignal(signal.SIGINT)
    try:
        interrupts.remember_interrupts()
        interrupts.raise_missed()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert capfd.readouterr().err.count("hopwright: interrupted; what is at hand") == 1
        with pytest.raises(KeyboardInterrupt):
            interrupts.raise_missed()
    finally:
        signal.signal(signal.SIGINT, before)


def test_workers_that_are_still_starting_say_nothing_of_an_interrupt() -> None:
    code = (
        "import multiprocessing, os, signal\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from hopwright.stages.workers import open_pool\n"
        "if __name__ == '__main__':\n"
        "    os.setpgid(0, 0)\n"
        "    signal.signal(signal.SIGINT, lambda *_: None)\n"
        "    with open_pool(2) as pool, ThreadPoolExecutor(1) as threads:\n"
        "        called = threads.submit(pool.run, len, 'abc')\n"
        "        while not multiprocessing.active_children():\n"
        "            pass\n"
        "        os.killpg(0, signal.SIGINT)\n"
        "        print(called.result())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("3\n", "")
