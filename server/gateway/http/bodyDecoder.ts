import type { IncomingMessage } from "node:http";
import { createGunzip, createInflate, type Gunzip, type Inflate } from "node:zlib";

/** Size up to which a decompressed body may have any ratio to the compressed one. */
const freeBytes = 256 * 1024;
/** Decompressed bytes for each compressed one, at most. Prompts compress to a tenth; both formats reach 1032. */
const mostRatio = 100;
/** Decompressed bytes that come at once. */
const chunkSize = 64 * 1024;
/** Compressed bytes that are taken on at once: at the highest ratio they become 4 MB, of which a reader stops at the first part. */
const sliceBytes = 4 * 1024;

/** Encodings of bodies that are read. Brotli is not among them: its decoder takes 16 MB of memory for one request. */
type Encoding = "gzip" | "deflate";

/** What a body's `content-encoding` says; null if the body is not compressed. */
export function encodingOf(header: string | undefined): Encoding | "unknown" | null {
  switch (header?.trim().toLowerCase()) {
    case undefined:
    case "":
    case "identity":
      return null;
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "deflate":
      return "deflate";
    default:
      return "unknown";
  }
}

interface Decoding {
  /** Held while the decompressed bytes before are not taken. */
  readonly request: IncomingMessage;
  readonly onChunk: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  readonly onProblem: (kind: "bomb" | "undecodable") => void;
}

/** Decompresses one body piece by piece, outside the event loop, and no further than its reader wants. */
export class BodyDecoder {
  readonly #stream: Gunzip | Inflate;
  #request: IncomingMessage | null = null;
  /** Compressed bytes that are decompressed. */
  #doneBytes = 0;

  constructor(encoding: Encoding) {
    this.#stream = encoding === "gzip" ? createGunzip({ chunkSize }) : createInflate({ chunkSize });
  }

  /** Once the decoder is closed, none of these is called. */
  start({ request, onChunk, onEnd, onProblem }: Decoding): void {
    this.#request = request;
    let bytes = 0;
    this.#stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > freeBytes && bytes > mostRatio * (this.#doneBytes + sliceBytes)) onProblem("bomb");
      else onChunk(chunk);
    });
    this.#stream.on("drain", () => request.resume());
    this.#stream.once("end", onEnd);
    this.#stream.on("error", () => onProblem("undecodable"));
  }

  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += sliceBytes) {
      const slice = chunk.subarray(at, at + sliceBytes);
      const done = (): void => {
        this.#doneBytes += slice.length;
      };
      if (!this.#stream.write(slice, done)) this.#request?.pause();
    }
  }

  /** Called when the compressed body is whole. */
  end(): void {
    this.#stream.end();
  }

  /** Ends the decompression, whatever is left of the body. */
  close(): void {
    this.#stream.removeAllListeners("data").removeAllListeners("end").destroy();
  }
}
