// Ids of a uidring server, with Node's own fetch alone.
//
//     const ids = new Client("http://127.0.0.1:8080", "ids");
//     await ids.next();      // one id
//     await ids.nextN(100);  // 100 ids, in one request
//
// Ids are BigInts: they have up to 63 bits, and a Number holds 53. As a program it prints
// N ids: node uidring.mjs URL NAME N. A token is read from the environment variable
// UIDRING_TOKEN.

import { fileURLToPath } from "node:url";

/** Draws ids from one generator of a server. */
export class Client {
	#url;
	#headers = { Accept: "application/json" };
	#timeout;

	constructor(url, name, { token, timeout = 5000 } = {}) {
		this.#url = `${url}/v1/${encodeURIComponent(name)}?n=`;
		if (token) this.#headers.Authorization = `Bearer ${token}`;
		this.#timeout = timeout;
	}

	/** Returns an id. Throws an Error if the server refuses or cannot be reached. */
	async next() {
		return (await this.nextN(1))[0];
	}

	/** Returns n ids. A server allows 10,000 at once by default. */
	async nextN(n) {
		const url = this.#url + n;
		const response = await fetch(url, { headers: this.#headers, signal: AbortSignal.timeout(this.#timeout) });
		const body = await response.json();
		if (!response.ok) throw new Error(`${url}: status ${response.status}: ${body.detail}`);
		return body.ids.map(BigInt);
	}
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const [url, name, n] = process.argv.slice(2);
	const ids = new Client(url, name, { token: process.env.UIDRING_TOKEN });
	console.log(String(await ids.next()));
	for (const id of await ids.nextN(Number(n) - 1)) console.log(String(id));
}
