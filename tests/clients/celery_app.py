"""Celery with Redis as broker and as result store, and Kombu below it. usage: celery_app.py PORT"""
import time

from celery import Celery, chain, chord, group
from celery.contrib.testing.worker import start_worker
from kombu import Connection
from library import URL, check, report

app = Celery("smoke", broker=URL, backend=URL)
app.conf.update(task_default_queue="smoke", worker_hijack_root_logger=False, worker_log_color=False,
                broker_connection_retry_on_startup=True, result_expires=60, task_track_started=True)


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True, max_retries=3, default_retry_delay=0)
def third_time(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0)
    return self.request.retries


@app.task(throws=(ValueError,))
def fails():
    raise ValueError("no")


def tasks():
    results = [add.delay(n, n) for n in range(300)]
    check([r.get(timeout=30) for r in results] == [2 * n for n in range(300)], "three hundred results")
    check(chain(add.s(1, 2), add.s(10), add.s(100))().get(timeout=10) == 113, "a chain")
    check(group(add.s(n, 1) for n in range(20))().get(timeout=10) == list(range(1, 21)), "a group")
    check(chord((add.s(n, n) for n in range(20)), total.s())().get(timeout=10) == 380, "a chord")
    check(third_time.delay().get(timeout=10) == 2, "retries")
    failed = fails.delay()
    check(isinstance(failed.get(timeout=10, propagate=False), ValueError), "an error comes back")
    check(failed.state == "FAILURE", "its state")
    began = time.time()
    check(add.apply_async((1, 1), countdown=0.3).get(timeout=10) == 2, "a delayed task")
    check(time.time() - began >= 0.3, "not before its time")
    revoked = add.apply_async((1, 1), countdown=60)
    revoked.revoke()
    revoked.forget()
    check(app.control.inspect(timeout=1).ping(), "remote control by pub/sub")
    check(app.control.purge() >= 0, "purge")


def queues():
    with Connection(URL) as connection:
        queue = connection.SimpleQueue("kombu")
        for n in range(100):
            queue.put({"n": n}, priority=n % 3)
        check(queue.qsize() == 100, "kombu's queue holds them")
        got = []
        while len(got) < 100:
            message = queue.get(timeout=5)
            got.append(message.payload["n"])
            message.ack()
        check(sorted(got) == list(range(100)), "and gives each once")
        queue.put("again")
        queue.get(timeout=5).requeue()
        message = queue.get(timeout=5)
        check(message.payload == "again", "requeued")
        message.ack()
        queue.close()


def main():
    queues()
    with start_worker(app, pool="threads", concurrency=4, perform_ping_check=False, loglevel="ERROR"):
        tasks()


report(main)
