"""The seeds' scripts through redis-py: by its own script object, by EVAL, in RESP2 and RESP3. usage: redis_py.py PORT"""
import json
import os
import sys

import redis

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "..", "..", "scripts", "seed")


def source(name):
    with open(os.path.join(SCRIPTS, name + ".lua"), encoding="utf-8") as file:
        return file.read()


def matches(want, got):
    if isinstance(want, dict):
        if "between" in want:
            return isinstance(got, int) and want["between"][0] <= got <= want["between"][1]
        if not isinstance(got, Exception):
            return False
        # redis-py takes the code ERR off the text and keeps others.
        text = str(got)
        if "error_has" in want:
            return want["error_has"] in text
        return any(text.startswith(w) for w in (want["error"], want["error"].removeprefix("ERR ")))
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(matches, want, got))
    if want == "OK":
        return got in ("OK", True)
    if isinstance(want, str):
        return str(got) == want or (isinstance(got, float) and float(want) == got)
    return got == want


def run(client, by, case):
    client.flushall()
    for step in case["steps"]:
        try:
            if "cmd" in step:
                got = client.execute_command(*step["cmd"])
            elif by == "script":
                got = client.register_script(source(step["script"]))(keys=step["keys"], args=step["args"])
            else:
                got = client.eval(source(step["script"]), len(step["keys"]), *step["keys"], *step["args"])
        except redis.exceptions.RedisError as error:
            got = error
        if not matches(step["want"], got):
            raise SystemExit(f"{case['name']} ({by}): {step} gave {got!r}")


def main():
    with open(os.path.join(HERE, "seeds.json"), encoding="utf-8") as file:
        cases = json.load(file)
    count = 0
    for protocol in (2, 3):
        client = redis.Redis(port=int(sys.argv[1]), decode_responses=True, protocol=protocol)
        for case in cases:
            for by in ("script", "eval"):
                run(client, by, case)
                count += 1
        # What an application does besides: a pipeline, a transaction that retries.
        with client.pipeline(transaction=True) as pipe:
            pipe.watch("n")
            pipe.multi()
            pipe.incr("n").incr("n")
            assert pipe.execute() == [1, 2]
        assert client.info("server")["redis_version"]
        count += 1
        client.close()
    print(f"ok {count}")


main()
