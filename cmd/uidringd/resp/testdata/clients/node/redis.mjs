// Arguments: port, token. It prints the ids that it draws.
import { createClient } from "redis";

const [port, token] = process.argv.slice(2);
for (const RESP of [2, 3]) {
  const client = createClient({ url: `redis://127.0.0.1:${port}`, password: token, RESP });
  client.on("error", () => {}); // the server ends idle connections
  await client.connect();
  const ids = [];
  for (let i = 0; i < 25; i++) ids.push(await client.incr("orders"));
  ids.push(...(await Promise.all(Array.from({ length: 50 }, () => client.incr("orders")))));
  const last = await client.incrBy("orders", 5);
  for (let id = last - 4; id <= last; id++) ids.push(id);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  ids.push(await client.incr("orders"));
  for (let i = 0; i < 24; i++) ids.push(await client.get("orders"));
  console.log(ids.join("\n"));
  client.destroy();
}
