"""A chunker in another language, over the contract alone.

It takes `DocumentParsed` from the stream `INGEST_CHUNK`, reads the pages from the blob store, and
publishes `ChunksMade` for the embedder: proof that a stage can be replaced by any program that
speaks the contract. Needs the packages `nats-py` and `tokenizers`.
"""

import asyncio
import hashlib
import json
import os
import signal
import time
from pathlib import Path

import nats
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.errors import NotFoundError

from packing import NoText, chunk_pages
from units import Counter

STREAM, DURABLE, FILTER = "INGEST_CHUNK", "chunker", "ingest.v1.chunk.*"
CHUNKER_VERSION = "c2"
MAX_CHUNKS, MAX_TEXT_BYTES = 64, 256 * 1024
HEARTBEAT_SECONDS = 4


def setting(name, default):
    """An environment variable that is set and not empty."""
    return os.environ.get(name) or default


def json_size(chunk):
    """Bytes of a chunk's texts in JSON."""
    texts = [*chunk["heading_path"], chunk["prefix"], chunk["overlap"], chunk["text"]]
    return sum(len(json.dumps(text, ensure_ascii=False).encode()) - 2 for text in texts)


def batches(chunks):
    """Groups of chunks that fit a message."""
    groups, room = [], 0
    for chunk in chunks:
        size = json_size(chunk)
        if groups and len(groups[-1]) < MAX_CHUNKS and size <= room:
            groups[-1].append(chunk)
            room -= size
        else:
            groups.append([chunk])
            room = max(MAX_TEXT_BYTES - size, 0)
    return groups


class Chunker:
    """The stage: one message at a time."""

    def __init__(self, connection):
        assets = Path(setting("IBID_ASSETS", Path.home() / ".cache/ibid"))
        name = setting("IBID_MODEL__NAME", "all-MiniLM-L6-v2")
        data = Path(setting("IBID_DATA", Path.home() / ".local/share/ibid"))
        self.model = f"{name}-{setting('IBID_MODEL__PRECISION', 'fp32')}"
        self.counter = Counter(assets / "models" / name)
        self.blobs = data / "blobs"
        self.connection = connection
        self.stream = connection.jetstream()
        self.in_hand = 0

    def chunk(self, folder):
        """The chunks of the pages in a blob folder."""
        manifest = json.loads((self.blobs / folder / "pages.json").read_bytes())
        pages = []
        for page in manifest["pages"]:
            missing = page["method"] == "missing"
            file = self.blobs / folder / f"page_{page['number']:04}.md"
            text = "" if missing else file.read_bytes().decode()
            pages.append((page["number"], text, page["locator"]))
        return chunk_pages(pages, self.counter)

    async def publish(self, subject, identity, message):
        """Publishes and waits until the stream has stored it."""
        message_id = hashlib.sha256(identity.encode()).hexdigest()
        body = json.dumps(message, ensure_ascii=False).encode()
        await self.stream.publish(subject, body, headers={"Nats-Msg-Id": message_id})

    async def bury(self, message, work, code, text, remedy):
        """Writes the dead letter, then gives the message up."""
        letter = {
            "stage": "chunk",
            "document_id": work["document_id"],
            "generation": work["generation"],
            "deliveries": message.metadata.num_delivered,
            "error": {"code": code, "message": text, "remedy": remedy},
        }
        subject = f"deadletter.v1.chunk.{work['document_id']}"
        identity = f"deadletter/{message.subject}/{message.metadata.sequence.stream}"
        await self.publish(subject, identity, letter)
        await message.term()

    async def handle(self, message):
        """One document: chunks published, then the message acknowledged."""
        parsed = json.loads(message.data)
        work = parsed["work"]
        theirs = (work["pipeline"]["chunker"], work["pipeline"]["model"])
        if theirs != (CHUNKER_VERSION, self.model):
            text = f"the work is for {theirs}"
            await self.bury(message, work, "pipeline_mismatch", text, "run one version")
            return
        job = asyncio.create_task(asyncio.to_thread(self.chunk, parsed["folder"]))
        while not (await asyncio.wait([job], timeout=HEARTBEAT_SECONDS))[0]:
            await message.in_progress()
        try:
            chunks = job.result()
        except NoText:
            await self.bury(message, work, "no_text", "the document has no text", "run OCR on it")
            return
        groups = batches(chunks)
        for index, group in enumerate(groups):
            made = {
                "work": work,
                "batch": {"index": index, "count": len(groups)},
                "total_chunks": len(chunks),
                "tokenizer_hash": self.counter.hash,
                "window": self.counter.window,
                "chunks": group,
            }
            document = work["document_id"]
            identity = f"embed/{document}/{work['generation']}/{index}/{work['attempt']}"
            await self.publish(f"ingest.v1.embed.{document}", identity, made)
        await message.ack()
        progress = {
            "document_id": work["document_id"],
            "generation": work["generation"],
            "stage": "chunk",
            "pages": parsed["pages"],
            "chunks": len(chunks),
        }
        subject = f"progress.v1.{work['document_id']}"
        await self.connection.publish(subject, json.dumps(progress).encode())

    async def subscription(self):
        """The durable consumer that all chunkers share, made if it is not there yet."""
        while True:
            try:
                await self.stream.stream_info(STREAM)
                break
            except NotFoundError:
                await asyncio.sleep(0.2)
        config = ConsumerConfig(
            durable_name=DURABLE,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=float(setting("IBID_BUS__ACK_WAIT_SECS", "15")),
            max_deliver=-1,
            max_ack_pending=4096,
        )
        try:
            await self.stream.consumer_info(STREAM, DURABLE)
        except NotFoundError:
            await self.stream.add_consumer(STREAM, config)
        return await self.stream.pull_subscribe_bind(durable=DURABLE, stream=STREAM)

    async def run(self, draining):
        """Pulls and handles until the drain begins."""
        subscription = await self.subscription()
        started = time.monotonic()

        async def tell_health(question):
            health = {
                "service": "chunker",
                "pid": os.getpid(),
                "version": "python",
                "ready": True,
                "in_flight": self.in_hand,
                "uptime_ms": int((time.monotonic() - started) * 1000),
            }
            await question.respond(json.dumps(health).encode())

        await self.connection.subscribe("health.v1", cb=tell_health)
        while not draining.is_set():
            try:
                messages = await subscription.fetch(1, timeout=1)
            except (TimeoutError, nats.errors.TimeoutError):
                continue
            for message in messages:
                self.in_hand = 1
                try:
                    await self.handle(message)
                except Exception as error:  # Whatever it was, the message comes again.
                    print(f"will try again: {type(error).__name__}: {error}", flush=True)
                    await message.nak(delay=1)
                self.in_hand = 0


async def main():
    """Connects, chunks, and drains on SIGTERM or Ctrl-C."""
    draining = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, draining.set)
    url = setting("IBID_BUS__URL", "nats://127.0.0.1:4222")
    token = os.environ.get("IBID_BUS__TOKEN") or None
    connection = await nats.connect(url, token=token, name="ibid-chunker", max_reconnect_attempts=-1)
    await Chunker(connection).run(draining)
    await connection.drain()
    print("drained", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
