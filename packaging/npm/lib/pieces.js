// Bytes that arrive in pieces of any length.

/** Collects a number of bytes. */
export class Collector {
    constructor(wanted = 0) {
        this.start(wanted);
    }

    /** Begins to collect `wanted` bytes, after those that are kept. */
    start(wanted, kept = []) {
        this.wanted = wanted;
        this.pieces = kept;
        this.length = kept.reduce((sum, piece) => sum + piece.length, 0);
    }

    /** Adds bytes of a plain `Uint8Array`; returns how many it needed. */
    add(bytes) {
        const count = Math.min(bytes.length, this.wanted - this.length);
        if (count > 0) {
            // Sources may reuse the memory.
            this.pieces.push(bytes.slice(0, count));
            this.length += count;
        }
        return count;
    }

    get isComplete() {
        return this.length >= this.wanted;
    }

    /** Returns all bytes. */
    take() {
        if (this.pieces.length === 1) {
            return this.pieces[0];
        }
        const all = new Uint8Array(this.length);
        let at = 0;
        for (const piece of this.pieces) {
            all.set(piece, at);
            at += piece.length;
        }
        return all;
    }
}

/** Returns the pieces of a stream or an iterable. A stream is cancelled if the caller stops early. */
export async function* piecesOf(stream) {
    if (typeof stream.getReader !== "function") {
        yield* stream;
        return;
    }
    // Not all browsers can iterate over streams.
    const reader = stream.getReader();
    let isDone = false;
    try {
        for (;;) {
            const { done, value } = await reader.read();
            isDone = done;
            if (done) {
                return;
            }
            yield value;
        }
    } finally {
        if (!isDone) {
            await reader.cancel().catch(() => {});
        }
        reader.releaseLock();
    }
}
