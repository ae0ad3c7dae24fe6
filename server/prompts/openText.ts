import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";

const CHUNK_BYTES = 256 * 1024;
const gzipMark = Buffer.from([0x1f, 0x8b]);

/** The bytes of a file of text; of one that gzip made, unpacked as they are read. */
export async function openText(path: string): Promise<Readable> {
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (!(await beginsWith(path, gzipMark))) return stream;
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  // Destroyed with the error of either, which its reader gets as an exception.
  pipeline(stream, unpacked, () => undefined);
  return unpacked;
}

/** Whether an error is of a gzip file that is damaged or broken off. */
export const isBrokenGzip = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "Z_DATA_ERROR" || error.code === "Z_BUF_ERROR");

async function beginsWith(path: string, mark: Buffer): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(mark.length), 0, mark.length, 0);
    return bytesRead === mark.length && buffer.equals(mark);
  } finally {
    await file.close();
  }
}
