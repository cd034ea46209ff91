// Arguments: port, token. It prints the ids that it draws.
import Redis from "ioredis";

const [port, token] = process.argv.slice(2);
const client = new Redis({ host: "127.0.0.1", port: Number(port), password: token });
client.on("error", () => {}); // the server ends idle connections
const ids = [];
for (let i = 0; i < 50; i++) ids.push(await client.incr("orders"));
const pipeline = client.pipeline();
for (let i = 0; i < 100; i++) pipeline.incr("orders");
for (const [error, id] of await pipeline.exec()) {
  if (error) throw error;
  ids.push(id);
}
const last = await client.incrby("orders", 10);
for (let id = last - 9; id <= last; id++) ids.push(id);
await new Promise((resolve) => setTimeout(resolve, 1000));
ids.push(await client.incr("orders"));
for (let i = 0; i < 49; i++) ids.push(await client.get("orders"));
console.log(ids.join("\n"));
client.disconnect();
