#!/usr/bin/env python3
"""Makes the fixtures of files.rs: a data directory of each server with one key of each kind, and what DUMP and
PEXPIRETIME answer there.

    make.py NAME SERVER    for example: make.py redis7 redis-server
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def __call__(self, *words):
        out = b"*%d\r\n" % len(words)
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            out += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(out)
        reply = self.reply()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return Exception(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            n = int(rest)
            if n < 0:
                return None
            data = self.file.read(n)
            self.file.read(2)
            return data
        return [self.reply() for _ in range(int(rest))]


def fill(r, fields):
    def limit(name, value):
        r("CONFIG", "SET", name, value)

    r("SET", "string", "hello")
    r("SET", "int", "-30000")
    r("SET", "compressed", "abcabcabcabcabcabcabcabcabcabc")
    r("RPUSH", "list", "a", 1, "b", 70000)
    limit("list-max-listpack-size", 3)
    r("RPUSH", "quicklist", *["e%d" % i for i in range(8)])
    r("SADD", "intset", 1, 300, -70000)
    r("ZADD", "zset", 1, "a", 2.5, "b", "-inf", "c")
    limit("zset-max-listpack-entries", 0)
    r("ZADD", "skiplist", 1, "a", 2.5, "b", "inf", "c")
    r("HSET", "hash", "f", "v", 1, 2)
    r("SADD", "one", "member")
    if fields:
        limit("hash-max-listpack-entries", 0)
        r("HSET", "fields", "f", "v")
        r("HPEXPIREAT", "fields", 9999999999999, "FIELDS", 1, "f")
    for i in range(1, 6):
        r("XADD", "stream", "%d-1" % i, "f", i)
    r("XDEL", "stream", "2-1")
    r("XGROUP", "CREATE", "stream", "g", 0)
    r("XADD", "logs", "7-7", "a", 1, "b", 2)
    r("XADD", "logs", "8-8", "c", 1)
    r("PEXPIREAT", "string", 9999999999999)
    r("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")


def main(name, server):
    here = os.path.dirname(os.path.abspath(__file__))
    target = os.path.join(here, name)
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    work = tempfile.mkdtemp()
    path = os.path.join(work, "socket")
    process = subprocess.Popen(
        [server, "--port", "0", "--unixsocket", path, "--save", "", "--dir", work, "--appendonly", "yes"],
        stdout=subprocess.DEVNULL,
    )
    try:
        while not os.path.exists(path):
            time.sleep(0.05)
        r = Client(path)
        fill(r, b"hpexpire" in r("COMMAND", "LIST"))
        with open(os.path.join(target, "expected"), "w") as out:
            for key in sorted(r("KEYS", "*")):
                out.write("%s %s %d\n" % (key.decode(), r("DUMP", key).hex(), r("PEXPIRETIME", key)))
        r("SAVE")
        shutil.copy(os.path.join(work, "dump.rdb"), target)
        shutil.copytree(os.path.join(work, "appendonlydir"), os.path.join(target, "appendonlydir"))
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(work)


main(sys.argv[1], sys.argv[2])
