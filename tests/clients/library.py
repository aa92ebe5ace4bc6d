"""What the smoke tests of libraries share: checks that are counted, and a deadline so that none of them hangs."""
import os
import sys
import threading
import time

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 0
URL = f"redis://127.0.0.1:{PORT}/0"
_count = 0


def check(good, what):
    global _count
    if not good:
        raise AssertionError(what)
    _count += 1


def until(what, condition, seconds=20):
    """Waits for what another thread does; a check that it came."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never: {what}")
        time.sleep(0.01)
    check(True, what)


def report(main):
    def late():
        print(f"no end after {_count} checks", file=sys.stderr)
        os._exit(1)

    timer = threading.Timer(55, late)
    timer.daemon = True
    timer.start()
    main()
    print(f"ok {_count}", flush=True)
    # Workers of some libraries leave threads behind that wait for their next job.
    os._exit(0)
