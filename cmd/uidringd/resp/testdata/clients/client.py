# Arguments: port, token. It prints the ids that it draws.
import sys
import threading
import time

import redis

pool = redis.ConnectionPool(host="127.0.0.1", port=int(sys.argv[1]), password=sys.argv[2], decode_responses=True)
client = redis.Redis(connection_pool=pool)
ids = []


def draw():
    for _ in range(10):
        ids.append(client.incr("orders"))


threads = [threading.Thread(target=draw) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
pipeline = client.pipeline(transaction=False)
for _ in range(100):
    pipeline.incr("orders")
ids += pipeline.execute()
last = client.incrby("orders", 10)
ids += range(last - 9, last + 1)
time.sleep(1)  # the server ends the connections meanwhile
ids.append(client.incr("orders"))
ids += [client.get("orders") for _ in range(49)]
print(*ids, sep="\n")
