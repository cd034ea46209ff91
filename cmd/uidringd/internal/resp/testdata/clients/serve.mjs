// Answers the lines of standard input, for both libraries. See scripts_test.go.
import { createInterface } from "node:readline";

const [timeout, token, ...servers] = process.argv.slice(2);

// serve has connect(options) open a client of a server, and draw(client, command, name, n)
// return promises of ids.
export async function serve({ connect, draw, close }) {
  let client;
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, name, n] = line.split(" ");
    const ids = [];
    let error;
    for (let tries = 0; tries <= servers.length; tries++) {
      error = undefined;
      try {
        client ??= await connect(address(servers[0]), token || undefined, timeout * 1000);
        const drawn = await Promise.allSettled([...draw(client, command, name, n - ids.length)].map(within));
        ids.push(...drawn.filter((one) => one.status === "fulfilled").map((one) => one.value));
        error = drawn.find((one) => one.status === "rejected")?.reason;
      } catch (fault) {
        error = fault;
      }
      if (error === undefined) break;
      if (client) close(client);
      client = undefined;
      servers.push(servers.shift());
    }
    if (error !== undefined) ids.push("error", String(error.message).replaceAll("\n", " "));
    console.log(ids.join(" "));
  }
  if (client) close(client);
}

// within rejects what a library has not settled by twice its own time, as if it had lost a command.
function within(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, 2 * timeout * 1000, new Error("the library did not end a command"));
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function address(server) {
  if (server.startsWith("/")) return { path: server };
  const [host, port] = server.split(":");
  return { host, port: Number(port) };
}
