"""RQ: jobs, dependencies, retries, delays, registries. usage: rq_jobs.py PORT"""
import sys
import time
import types
from datetime import timedelta

import redis
from library import PORT, check, report
from rq import Queue, Retry, SimpleWorker
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry
from rq.scheduler import RQScheduler

# Jobs are named by their module, which cannot be the program itself.
jobs = types.ModuleType("smoke_jobs")
sys.modules["smoke_jobs"] = jobs
exec(
    """
attempts = {}
def square(n):
    return n * n
def fails():
    raise ValueError("no")
def second_time(name):
    attempts[name] = attempts.get(name, 0) + 1
    if attempts[name] < 2:
        raise ValueError("not yet")
    return attempts[name]
""",
    jobs.__dict__,
)


def work(connection, queues):
    SimpleWorker(queues, connection=connection).work(burst=True, logging_level="CRITICAL")


def main():
    connection = redis.Redis(port=PORT)
    queue = Queue("smoke", connection=connection)
    with connection.pipeline() as pipe:
        prepared = [Queue.prepare_data("smoke_jobs.square", (n,)) for n in range(200)]
        many = queue.enqueue_many(prepared, pipeline=pipe)
        pipe.execute()
    check(len(queue) == 200, "queued")
    last = queue.enqueue("smoke_jobs.square", 7, depends_on=many[-1])
    check(last.get_status(refresh=True) == "deferred", "waits for what it depends on")
    failing = queue.enqueue("smoke_jobs.fails")
    retried = queue.enqueue("smoke_jobs.second_time", "a", retry=Retry(max=2))
    urgent = queue.enqueue("smoke_jobs.square", 3, at_front=True)
    check(queue.job_ids[0] == urgent.id, "at the front")
    work(connection, [queue])
    check(all(job.return_value(refresh=True) == n * n for n, job in enumerate(many)), "results")
    check(last.return_value(refresh=True) == 49, "the dependent one ran")
    check(retried.return_value(refresh=True) == 2, "retried")
    check(failing.get_status(refresh=True) == "failed", "failed")
    check(FailedJobRegistry(queue=queue).get_job_ids() == [failing.id], "failed jobs are kept")
    check(len(FinishedJobRegistry(queue=queue)) == 203, "finished jobs are kept")
    later = queue.enqueue_in(timedelta(seconds=1), "smoke_jobs.square", 5)
    check(ScheduledJobRegistry(queue=queue).get_job_ids() == [later.id], "scheduled")
    scheduler = RQScheduler([queue], connection=connection)
    check(scheduler.acquire_locks() == {"smoke"}, "the scheduler has its lock")
    time.sleep(1.2)
    scheduler.enqueue_scheduled_jobs()
    scheduler.release_locks()
    work(connection, [queue])
    check(later.return_value(refresh=True) == 25, "the delayed one ran")
    queue.delete(delete_jobs=True)
    check(len(queue) == 0, "gone")


report(main)
