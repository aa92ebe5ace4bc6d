"""A cluster of one node through redis-py's cluster client. usage: cluster_py.py PORT"""
import sys
import time

from redis.cluster import RedisCluster
from redis.exceptions import ResponseError

done = 0


def same(got, want):
    global done
    if got != want:
        raise SystemExit(f"got {got!r}, want {want!r}")
    done += 1


def sharded(subscriber):
    """The next message; without a node the client looks once and does not wait."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        message = subscriber.get_sharded_message(timeout=0.1)
        if message:
            return message
    raise SystemExit("no sharded message")


for protocol in (2, 3):
    port = int(sys.argv[1])
    c = RedisCluster(host="127.0.0.1", port=port, protocol=protocol)
    c.flushall()
    same([n.name for n in c.get_nodes()], [f"127.0.0.1:{port}"])
    same((c.set("a", 1), c.get("a")), (True, b"1"))
    same(c.mget_nonatomic("a", "b"), [b"1", None])
    pipe = c.pipeline()
    pipe.set("k1", 1)
    pipe.get("k2")
    same(pipe.execute(), [True, None])
    same(c.eval("return redis.call('GET',KEYS[1])", 1, "a"), b"1")
    same(c.evalsha(c.script_load("return {KEYS[1],ARGV[1]}"), 1, "k", "v"), [b"k", b"v"])
    same(c.function_load("#!lua name=l\nredis.register_function('f',function(k,a) return a[1] end)", True), b"l")
    same(c.fcall("f", 1, "k", "v"), b"v")
    same(c.cluster_info()["cluster_state"], "ok")
    same(len(c.cluster_shards()), 1)
    same(c.cluster_countkeysinslot(15495), 1)
    same([str(k).strip("b'") for k in c.cluster_get_keys_in_slot(15495, 10)], ["a"])
    try:
        c.get_random_node().redis_connection.mget("a", "b")
        raise SystemExit("keys of two slots were taken")
    except ResponseError as error:
        same("hash to the same slot" in str(error), True)
    if protocol == 2:
        subscriber = c.pubsub()
        subscriber.ssubscribe("news")
        same(sharded(subscriber)["type"], "ssubscribe")
        c.spublish("news", "hi")
        same(sharded(subscriber)["data"], b"hi")
    c.close()
print(f"ok {done}")
