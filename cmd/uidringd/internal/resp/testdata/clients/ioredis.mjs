// See scripts_test.go.
import Redis from "ioredis";
import { serve } from "./serve.mjs";

serve({
  connect(address, password, timeout) {
    const client = new Redis({
      ...address,
      password,
      connectTimeout: timeout,
      commandTimeout: timeout,
      maxRetriesPerRequest: 2,
      retryStrategy: (times) => (times > 2 ? null : 50),
      stringNumbers: true, // a number of JavaScript has 53 bits
    });
    client.on("error", () => {}); // the commands that fail tell
    return client;
  },
  draw(client, command, name, n) {
    if (command === "incrby") return [client.incrby(name, n)];
    if (command !== "pipeline") return Array.from({ length: n }, () => client[command](name));
    const pipeline = client.pipeline();
    const ids = Array.from({ length: n }, () => new Promise((resolve, reject) => {
      pipeline.incr(name, (error, id) => (error ? reject(error) : resolve(id)));
    }));
    pipeline.exec().catch(() => {}); // the ids tell
    return ids;
  },
  close: (client) => client.disconnect(),
});
