// A client of each version of the protocol, which commands use in turn. See scripts_test.go.
import { createClient, RESP_TYPES } from "redis";
import { serve } from "./serve.mjs";

let turn = 0;

serve({
  async connect(address, password, timeout) {
    const clients = [2, 3].map((RESP) =>
      createClient({
        socket: {
          ...address,
          connectTimeout: timeout,
          socketTimeout: timeout,
          reconnectStrategy: (retries, cause) => (retries > 2 ? cause : 50),
        },
        password,
        RESP,
        commandOptions: { typeMapping: { [RESP_TYPES.NUMBER]: String } }, // a number of JavaScript has 53 bits
      }).on("error", () => {}), // the commands that fail tell
    );
    try {
      await Promise.all(clients.map((client) => client.connect()));
    } catch (fault) {
      close(clients);
      throw fault;
    }
    return clients;
  },
  *draw(clients, command, name, n) {
    const client = clients[turn++ % clients.length];
    if (command === "incrby") yield client.incrBy(name, n);
    else for (let i = 0; i < n; i++) yield command === "get" ? client.get(name) : client.incr(name); // at once: a pipeline
  },
  close,
});

function close(clients) {
  for (const client of clients) if (client.isOpen) client.destroy();
}
