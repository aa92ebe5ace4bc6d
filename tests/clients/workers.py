"""Dramatiq, arq and Huey: three more job queues, each with scripts of its own. usage: workers.py PORT"""
import asyncio
import time

import dramatiq
from arq import Retry, create_pool
from arq.connections import RedisSettings
from arq.worker import Worker as ArqWorker
from arq.worker import func
from dramatiq.brokers.redis import RedisBroker
from dramatiq.rate_limits import ConcurrentRateLimiter, WindowRateLimiter
from dramatiq.rate_limits.backends import RedisBackend as LimitsBackend
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend as ResultsBackend
from huey import RedisHuey
from library import PORT, URL, check, report, until


def dramatiq_jobs():
    broker = RedisBroker(url=URL, namespace="dramatiq")
    broker.add_middleware(Results(backend=ResultsBackend(url=URL)))
    dramatiq.set_broker(broker)
    tries = []

    @dramatiq.actor(store_results=True)
    def double(n):
        return 2 * n

    @dramatiq.actor(max_retries=3, min_backoff=10, max_backoff=20)
    def flaky():
        tries.append(1)
        if len(tries) < 3:
            raise ValueError("not yet")

    worker = dramatiq.Worker(broker, worker_threads=4, worker_timeout=50)
    worker.start()
    messages = [double.send(n) for n in range(300)]
    check([m.get_result(block=True, timeout=20000) for m in messages] == [2 * n for n in range(300)], "dramatiq results")
    flaky.send()
    until("dramatiq retries", lambda: len(tries) == 3)
    began = time.time()
    check(double.send_with_options(args=(4,), delay=200).get_result(block=True, timeout=10000) == 8, "a delay")
    check(time.time() - began >= 0.2, "not before its time")
    check(dramatiq.pipeline([double.message(1), double.message(), double.message()]).run().get_result(block=True) == 8, "a pipeline")
    group = dramatiq.group([double.message(n) for n in range(10)]).run()
    check(sorted(group.get_results(block=True)) == [2 * n for n in range(10)], "a group")
    broker.join("default")
    worker.stop()
    limits = LimitsBackend(url=URL)
    mutex = ConcurrentRateLimiter(limits, "mutex", limit=1)
    with mutex.acquire(raise_on_failure=False) as first, mutex.acquire(raise_on_failure=False) as second:
        check(first and not second, "one at a time")
    window = WindowRateLimiter(limits, "window", limit=3, window=10)
    passed = 0
    for _ in range(5):
        with window.acquire(raise_on_failure=False) as good:
            passed += bool(good)
    check(passed == 3, "three in a window")


async def arq_jobs():
    settings = RedisSettings(port=PORT)
    pool = await create_pool(settings)

    async def double(ctx, n):
        return 2 * n

    async def flaky(ctx):
        if ctx["job_try"] < 3:
            raise Retry(defer=0.01)
        return ctx["job_try"]

    jobs = [await pool.enqueue_job("double", n) for n in range(200)]
    check(await pool.enqueue_job("double", 1, _job_id="once") is not None, "arq takes an id")
    check(await pool.enqueue_job("double", 1, _job_id="once") is None, "and only once")
    later = await pool.enqueue_job("double", 5, _defer_by=0.2)
    retried = await pool.enqueue_job("flaky")
    worker = ArqWorker([func(double, name="double"), func(flaky, name="flaky")], redis_settings=settings, burst=True, poll_delay=0.02, max_jobs=20, handle_signals=False)
    await worker.main()
    check([await j.result(timeout=5) for j in jobs] == [2 * n for n in range(200)], "arq results")
    check(await later.result(timeout=5) == 10, "arq delays")
    check(await retried.result(timeout=5) == 3, "arq retries")
    check(len(await pool.all_job_results()) == 203, "arq keeps results")
    await worker.close()
    await pool.aclose()


def huey_jobs():
    huey = RedisHuey("huey", port=PORT)
    tries = []

    @huey.task()
    def double(n):
        return 2 * n

    @huey.task(retries=2)
    def flaky():
        tries.append(1)
        if len(tries) < 2:
            raise ValueError("not yet")
        return len(tries)

    @huey.task()
    @huey.lock_task("alone")
    def alone():
        return 1

    consumer = huey.create_consumer(workers=4, initial_delay=0.01, max_delay=0.05, scheduler_interval=1)
    consumer.start()
    results = [double(n) for n in range(200)]
    check([r.get(blocking=True, timeout=20) for r in results] == [2 * n for n in range(200)], "huey results")
    check(flaky().get(blocking=True, timeout=10, preserve=True) is not None, "huey answers")
    until("huey retries", lambda: len(tries) == 2)
    check(double.schedule((4,), delay=1).get(blocking=True, timeout=10) == 8, "huey delays")
    check(double.s(1).then(double).then(double) is not None, "huey pipelines")
    check(alone().get(blocking=True, timeout=10) == 1, "huey locks")
    huey.put("cache", 5)
    check(huey.get("cache") == 5, "huey keeps values")
    consumer.stop(graceful=True)


def main():
    dramatiq_jobs()
    asyncio.run(arq_jobs())
    huey_jobs()


report(main)
