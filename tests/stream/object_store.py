"""A read-only S3 on loopback: as much of its HTTP interface as listing and reading files needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


@contextmanager
def served(root: Path) -> Iterator[str]:
    """The folders in ``root`` as buckets; gives the endpoint's address."""
    handler = type("Handler", (_Handler,), {"root": root})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    root: Path
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""

    def _answer(self, body: bool) -> None:
        url = urlsplit(self.path)
        bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if not (self.root / bucket).is_dir():
            self._send(404, _error("NoSuchBucket", bucket), body)
        elif "list-type" in asked:
            self._send(200, self._listing(bucket, asked.get("prefix", "")), body)
        elif not key:
            self._send(200, b"", body)
        elif (self.root / bucket / key).is_file():
            self._send_file((self.root / bucket / key).read_bytes(), body)
        else:
            self._send(404, _error("NoSuchKey", key), body)

    def _listing(self, bucket: str, prefix: str) -> bytes:
        folder = self.root / bucket
        keys = [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*.parquet"))]
        keys = [key for key in keys if key.startswith(prefix)]
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{(folder / key).stat().st_size}</Size>"
            "<LastModified>2024-01-01T00:00:00.000Z</LastModified></Contents>"
            for key in keys
        )
        facts = f"<IsTruncated>false</IsTruncated><KeyCount>{len(keys)}</KeyCount>"
        return f"<ListBucketResult>{facts}{contents}</ListBucketResult>".encode()

    def _send_file(self, content: bytes, body: bool) -> None:
        asked = self.headers.get("Range")
        if asked is None:
            self._send(200, content, body)
            return
        first, _, last = asked.removeprefix("bytes=").partition("-")
        end = min(int(last) if last else len(content) - 1, len(content) - 1)
        found = {"Content-Range": f"bytes {first}-{end}/{len(content)}"}
        self._send(206, content[int(first) : end + 1], body, found)

    def _send(
        self, status: int, content: bytes, body: bool, more: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(more or {})}.items():
            self.send_header(name, value)
        self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
        self.end_headers()
        if body:
            self.wfile.write(content)


def _error(code: str, what: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>{escape(what)}</Message></Error>".encode()
