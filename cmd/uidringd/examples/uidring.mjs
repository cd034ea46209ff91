// Ids of a uidring server, with Node's own fetch alone.
//
//     const ids = new Client("https://ids.example.com", "orders", { token });
//     await ids.next();      // one id
//     await ids.nextN(100);  // 100 ids, in one request
//
// Ids are BigInts: they have up to 63 bits, and a Number holds 53. As a program it prints
// N ids: node uidring.mjs URL NAME N. A token is read from the environment variable
// UIDRING_TOKEN.

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const TRIES = 3; // requests for an answer, while the server is busy
const LONGEST_WAIT = 5; // seconds to wait for a busy server; one that asks for more is an error

/** Draws ids from one generator of a server. */
export class Client {
	#url;
	#headers = { Accept: "text/plain" };
	#timeout;

	/** timeout is how many milliseconds a request may take. */
	constructor(url, name, { token, timeout = 5000 } = {}) {
		const { protocol, hostname } = new URL(url);
		if (token && protocol !== "https:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname))
			throw new Error(`${url}: want https, since others could read the token`);
		if (token && !/^[!-~]+$/.test(token)) throw new Error("the token is not shown: want printable ASCII without spaces");
		this.#url = `${url.replace(/\/+$/, "")}/v1/${encodeURIComponent(name)}?n=`;
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
		for (let tries = 1; ; tries++) {
			const { status, retry, body } = await this.#get(url, 4096 + 20 * n);
			if (status === 200) {
				const lines = body.split("\n"); // nothing stands behind the last line's end
				const ids = lines.slice(0, -1).map((line) => (/^[1-9][0-9]{0,18}$/.test(line) ? BigInt(line) : 0n));
				if (lines.at(-1) === "" && ids.length === n && ids.every((id) => 0n < id && id < 2n ** 63n)) return ids;
				throw new Error(`${url}: the answer is not ${n} ids: ${JSON.stringify(body.slice(0, 80))}`);
			}
			const wait = /^[0-9]+$/.test(retry) ? Number(retry) : 1;
			if (![429, 503].includes(status) || tries === TRIES || wait > LONGEST_WAIT)
				throw new Error(`${url}: status ${status}: ${body.slice(0, 300)}`);
			await sleep(1000 * wait);
		}
	}

	// Returns the status, Retry-After and the body, which has most bytes at most. A redirect
	// is no answer: it could send the token to another host.
	async #get(url, most) {
		try {
			const signal = AbortSignal.timeout(this.#timeout);
			const response = await fetch(url, { headers: this.#headers, redirect: "manual", signal });
			let body = "";
			for await (const part of response.body ?? []) {
				body += Buffer.from(part).toString("latin1");
				if (body.length > most) throw new Error(`more than ${most} bytes`);
			}
			return { status: response.status, retry: response.headers.get("Retry-After"), body };
		} catch (e) {
			throw new Error(`${url}: ${e.cause?.message || e.cause?.code || e.message}`, { cause: e });
		}
	}
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const [url, name, n] = process.argv.slice(2);
	try {
		if (!/^[1-9][0-9]*$/.test(n)) throw new Error("usage: node uidring.mjs URL NAME N");
		const ids = new Client(url, name, { token: process.env.UIDRING_TOKEN });
		console.log(String(await ids.next()));
		if (n > 1) console.log((await ids.nextN(n - 1)).join("\n"));
	} catch (e) {
		console.error(`uidring: ${e.message}`);
		process.exitCode = 1;
	}
}
