"""Ids of a uidring server, with Python's standard library alone.

    ids = Client("https://ids.example.com", "orders", token)
    ids.next()       # one id
    ids.next_n(100)  # 100 ids, in one request

As a program it prints N ids: python3 uidring.py URL NAME N. A token is read from the
environment variable UIDRING_TOKEN.
"""

import http.client
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TRIES = 3  # requests for an answer, while the server is busy
LONGEST_WAIT = 5  # seconds to wait for a busy server; one that asks for more is an error


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: it could send the token to another host."""

    def redirect_request(self, *_):
        return None


class Client:
    """Draws ids from one generator of a server. Threads may share it."""

    def __init__(self, url, name, token=None, timeout=5.0):
        """timeout is how many seconds a request may take."""
        parts = urllib.parse.urlsplit(url)
        if token and parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError(f"{url}: want https, since others could read the token")
        if token and not re.fullmatch("[!-~]+", token):
            raise ValueError("the token is not shown: want printable ASCII without spaces")
        self._url = f"{url.rstrip('/')}/v1/{urllib.parse.quote(name, safe='')}?n="
        self._headers = {"Accept": "text/plain"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout
        self._opener = urllib.request.build_opener(NoRedirect)

    def next(self):
        """Returns an id. Raises OSError if the server refuses or cannot be reached."""
        return self.next_n(1)[0]

    def next_n(self, n):
        """Returns n ids. A server allows 10,000 at once by default."""
        url = self._url + str(n)
        for tries in range(1, TRIES + 1):
            status, retry, body = self._get(url, 4096 + 20 * n)
            if status == 200:
                lines = body.split(b"\n")  # nothing stands behind the last line's end
                ids = [int(line) for line in lines[:-1] if re.fullmatch(b"[1-9][0-9]{0,18}", line)]
                if len(ids) == n == len(lines) - 1 and lines[-1] == b"" and all(id < 2**63 for id in ids):
                    return ids
                raise OSError(f"{url}: the answer is not {n} ids: {body[:80]!r}")
            wait = int(retry) if re.fullmatch("[0-9]{1,9}", retry or "") else 1
            if status not in (429, 503) or tries == TRIES or wait > LONGEST_WAIT:
                raise OSError(f"{url}: status {status}: {body[:300].decode(errors='replace')}")
            time.sleep(wait)

    def _get(self, url, most):
        """Returns the status, Retry-After and the body, which has most bytes at most."""
        request, end = urllib.request.Request(url, headers=self._headers), time.monotonic() + self._timeout
        try:
            try:
                response = self._opener.open(request, timeout=self._timeout)
            except urllib.error.HTTPError as e:  # it is the answer, with its status
                response = e
            with response:
                body = b""
                while part := response.read1(4096):
                    body += part
                    if len(body) > most:
                        raise OSError(f"more than {most} bytes")
                    if time.monotonic() > end:
                        raise TimeoutError("timed out")
                if response.length:
                    raise OSError("the answer is truncated")
                return response.status, response.headers["Retry-After"], body
        except (OSError, http.client.HTTPException) as e:
            raise OSError(f"{url}: {e or repr(e)}") from e


if __name__ == "__main__":
    if len(sys.argv) != 4 or not sys.argv[3].isdecimal() or int(sys.argv[3]) < 1:
        sys.exit("usage: python3 uidring.py URL NAME N")
    try:
        ids = Client(*sys.argv[1:3], os.environ.get("UIDRING_TOKEN"))
        print(ids.next())
        if int(sys.argv[3]) > 1:
            print(*ids.next_n(int(sys.argv[3]) - 1), sep="\n")
    except (OSError, ValueError) as e:
        sys.exit(f"uidring: {e}")
