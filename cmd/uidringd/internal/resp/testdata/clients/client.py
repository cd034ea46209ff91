# A pool that threads share. See scripts_test.go.
import sys
from concurrent.futures import ThreadPoolExecutor

import redis

timeout, token, *servers = sys.argv[1:]
client = None


def connect():
    host, _, port = servers[0].partition(":")
    address = {"host": host, "port": int(port)} if port else {"unix_socket_path": host}
    return redis.Redis(password=token or None, socket_timeout=float(timeout), decode_responses=True, **address)


def draw(threads, command, name, n):
    """Yields ids, then what is no id."""
    if command == "incrby":
        yield client.incrby(name, n)
    elif command == "pipeline":
        pipeline = client.pipeline(transaction=False)
        for _ in range(n):
            pipeline.incr(name)
        yield from pipeline.execute(raise_on_error=False)
    else:
        one = client.get if command == "get" else client.incr
        drawing = [threads.submit(one, name) for _ in range(n)]
        yield from [future.exception() or future.result() for future in drawing]


with ThreadPoolExecutor(5) as threads:
    for line in sys.stdin:
        command, name, n = line.split()
        ids, error = [], None
        for _ in range(len(servers) + 1):
            try:
                client = client or connect()
                drawn = list(draw(threads, command, name, int(n) - len(ids)))
                ids += [id for id in drawn if not isinstance(id, Exception)]
                error = next((id for id in drawn if isinstance(id, Exception)), None)
            except redis.RedisError as e:
                error = e
            if error is None:
                break
            client.close()
            client = None
            servers.append(servers.pop(0))
        print(*ids, *(["error", str(error).replace("\n", " ")] if error else []), flush=True)
