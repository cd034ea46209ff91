"""Ids of a uidring server, with Python's standard library alone.

    ids = Client("http://127.0.0.1:8080", "ids")
    ids.next()       # one id
    ids.next_n(100)  # 100 ids, in one request

As a program it prints N ids: python3 uidring.py URL NAME N. A token is read from the
environment variable UIDRING_TOKEN.
"""

import os
import sys
import urllib.error
import urllib.parse
import urllib.request


class Client:
    """Draws ids from one generator of a server. Threads may share it."""

    def __init__(self, url, name, token=None, timeout=5.0):
        self._url = f"{url.rstrip('/')}/v1/{urllib.parse.quote(name, safe='')}?n="
        self._headers = {"Accept": "text/plain"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout

    def next(self):
        """Returns an id. Raises OSError if the server refuses or cannot be reached."""
        return self.next_n(1)[0]

    def next_n(self, n):
        """Returns n ids. A server allows 10,000 at once by default."""
        request = urllib.request.Request(self._url + str(n), headers=self._headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                return [int(line) for line in response.read().split()]
        except urllib.error.HTTPError as e:  # its body says what was wrong
            raise OSError(f"{request.full_url}: status {e.code}: {e.read().decode()}") from e


if __name__ == "__main__":
    url, name, n = sys.argv[1:]
    ids = Client(url, name, os.environ.get("UIDRING_TOKEN"))
    print(ids.next())
    for drawn in ids.next_n(int(n) - 1):
        print(drawn)
