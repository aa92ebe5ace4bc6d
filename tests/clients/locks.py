"""redis-py's locks, limits, pottery and Flask's sessions. usage: locks.py PORT"""
import threading
import time
import warnings

import flask
import limits
import pottery
import redis
from flask_session import Session
from library import PORT, URL, check, report
from redis.exceptions import LockError, LockNotOwnedError

client = redis.Redis(port=PORT)
# pottery warns of every command that is not O(1).
warnings.simplefilter("ignore")


def locks():
    lock = client.lock("lock", timeout=5)
    check(lock.acquire(blocking=False) and lock.owned() and lock.locked(), "acquired")
    check(not client.lock("lock").acquire(blocking_timeout=0.1), "held")
    lock.extend(10)
    check(client.pttl("lock") > 9000, "extended")
    lock.extend(3, replace_ttl=True)
    check(client.pttl("lock") <= 3000, "replaced")
    lock.reacquire()
    check(client.pttl("lock") > 3000, "reacquired")
    client.set("lock", "thief")
    try:
        lock.release()
        check(False, "released what another holds")
    except LockNotOwnedError:
        check(True, "not ours any more")
    client.delete("lock")
    count, most = [0], [0]

    def one():
        with redis.Redis(port=PORT).lock("shared", timeout=5, sleep=0.005):
            count[0] += 1
            most[0] = max(most[0], count[0])
            time.sleep(0.005)
            count[0] -= 1

    threads = [threading.Thread(target=one) for _ in range(10)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    check(most[0] == 1 and count[0] == 0, "one at a time")
    try:
        with client.lock("short", timeout=0.05):
            time.sleep(0.1)
        check(False, "expired unseen")
    except LockError:
        check(True, "its end is seen")


def limiters():
    for strategy in (
        limits.strategies.FixedWindowRateLimiter,
        limits.strategies.MovingWindowRateLimiter,
        limits.strategies.SlidingWindowCounterRateLimiter,
    ):
        storage = limits.storage.storage_from_string(URL)
        storage.reset()
        limiter = strategy(storage)
        item = limits.RateLimitItemPerHour(5, 1, strategy.__name__)
        check([limiter.hit(item, "caller") for _ in range(7)] == [True] * 5 + [False] * 2, strategy.__name__)
        check(limiter.get_window_stats(item, "caller").remaining == 0, "nothing left")
        check(not limiter.test(item, "caller") and limiter.test(item, "other"), "one caller only")
        limiter.clear(item, "caller")
        check(limiter.test(item, "caller"), "cleared")


def containers():
    tel = pottery.RedisDict({"jack": 4098, "sape": 4139}, redis=client, key="tel")
    tel["guido"] = 4127
    del tel["sape"]
    check(sorted(tel) == ["guido", "jack"] and tel == {"guido": 4127, "jack": 4098}, "a dict")
    squares = pottery.RedisList([1, 4, 9, 16, 25], redis=client, key="squares")
    squares.append(36)
    squares[1:3] = [0]
    check(list(squares) == [1, 0, 16, 25, 36] and squares[-1] == 36 and squares[2:4] == [16, 25], "a list")
    basket = pottery.RedisSet({"apple", "pear"}, redis=client, key="basket")
    basket |= {"plum"}
    check(basket == {"apple", "pear", "plum"} and "fig" not in basket, "a set")
    deque = pottery.RedisDeque("abc", redis=client, key="deque", maxlen=3)
    deque.appendleft("z")
    deque.rotate(1)
    check(len(deque) == 3, "a deque")
    votes = pottery.RedisCounter("gallahad", redis=client, key="votes")
    check(votes.most_common(1) == [("a", 3)] or votes.most_common(1) == [("l", 2)], "a counter")
    check([pottery.NextID(key="ids", masters={client}) and next(pottery.NextID(key="ids", masters={client})) for _ in range(3)] == [1, 2, 3], "ids")
    lock = pottery.Redlock(key="printer", masters={client}, auto_release_time=5)
    check(lock.acquire() and lock.locked() > 0, "pottery's lock")
    other = pottery.Redlock(key="printer", masters={client})
    check(not other.acquire(blocking=False), "held")
    lock.extend()
    lock.release()
    calls = []

    @pottery.redis_cache(redis=client, key="cached", timeout=60)
    def slow(n):
        calls.append(n)
        return n + 1

    check([slow(1), slow(1), slow(2)] == [2, 2, 3] and calls == [1, 2], "a cache")
    users = pottery.HyperLogLog({"a", "b", "c"}, redis=client, key="users")
    check(len(users) == 3, "a hyperloglog")
    dilberts = pottery.BloomFilter(num_elements=100, false_positives=0.01, redis=client, key="bloom")
    dilberts.update({"raj", "dan"})
    check("raj" in dilberts and len(dilberts) == 2, "a bloom filter")


def sessions():
    app = flask.Flask("smoke")
    app.config.update(SESSION_TYPE="redis", SESSION_REDIS=client, SECRET_KEY="secret", SESSION_PERMANENT=True)
    Session(app)

    @app.get("/")
    def visits():
        flask.session["visits"] = flask.session.get("visits", 0) + 1
        return str(flask.session["visits"])

    @app.get("/out")
    def out():
        flask.session.clear()
        return "out"

    browser = app.test_client()
    check([browser.get("/").text for _ in range(3)] == ["1", "2", "3"], "a session")
    check(app.test_client().get("/").text == "1", "another browser")
    keys = client.keys("session:*")
    check(len(keys) == 2 and all(client.ttl(k) > 0 for k in keys), "sessions end")
    browser.get("/out")
    check(len(client.keys("session:*")) == 1, "and can be ended")


def main():
    client.flushall()
    for part in (locks, limiters, containers, sessions):
        part()


report(main)
