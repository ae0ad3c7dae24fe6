import { randomUUID } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  type ReadStream,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Outcome } from "@/server/contracts/studio";

/** Size limit for the browser; the command line reads tables of any size. */
export const maxUploadBytes = 64 * 1024 * 1024;

/** Size limit for prompts, which are never read whole. */
export const maxPromptBytes = 2 * 1024 ** 3;

/** An upload from which no workload was made is deleted after a day. */
const keptMs = 24 * 3600 * 1000;

/** Uploaded files in a folder of the state directory, each under a random id, stored with its name. */
export function createUploads(stateDir: string) {
  const folder = join(stateDir, "uploads");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (id: string): string => join(folder, `${id}.upload`);
  const nameOf = (id: string): string => join(folder, `${id}.name`);

  function remove(id: string): void {
    rmSync(fileOf(id), { force: true });
    rmSync(nameOf(id), { force: true });
  }

  /** Deletes uploads older than a day. */
  function sweep(): void {
    for (const file of readdirSync(folder)) if (Date.now() - statSync(join(folder, file)).mtimeMs > keptMs) rmSync(join(folder, file));
  }
  sweep();

  return {
    remove,
    sweep,
    /** Writes a body to disk as it arrives; refused, with nothing stored, if it exceeds the limit. */
    async save(body: AsyncIterable<Uint8Array>, name: string, mostBytes = maxUploadBytes): Promise<Outcome<{ readonly id: string }>> {
      const id = randomUUID();
      let bytes = 0;
      const limit = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          bytes += chunk.length;
          done(bytes > mostBytes ? new Error("too large") : null, chunk);
        },
      });
      try {
        await pipeline(body, limit, createWriteStream(fileOf(id), { mode: 0o600 }));
      } catch (error) {
        remove(id);
        if (bytes > mostBytes) return { ok: false, message: tooLarge(name, mostBytes) };
        throw error;
      }
      writeFileSync(nameOf(id), name, { mode: 0o600 });
      return { ok: true, id };
    },
    /** Path of a file, for readers of their own; null if there is none of that id. */
    file(id: string): { readonly path: string; readonly name: string } | null {
      return existsSync(nameOf(id)) ? { path: fileOf(id), name: readFileSync(nameOf(id), "utf8") } : null;
    },
    /** The file in a reader's form; null if there is none of that id. */
    open(id: string): { readonly name: string; readonly stream: ReadStream } | null {
      if (!existsSync(nameOf(id))) return null;
      return { name: readFileSync(nameOf(id), "utf8"), stream: createReadStream(fileOf(id)) };
    },
  };
}

export type Uploads = ReturnType<typeof createUploads>;

/** The refusal before a file is sent, if its length is known, otherwise while it arrives. */
export const tooLarge = (name: string, mostBytes: number): string =>
  mostBytes === maxPromptBytes
    ? `${name} is larger than 2 GB, the most that is taken of prompts: split it, or send a part of it.`
    : `${name} is larger than 64 MB, the most the browser may send: import it with \`npm run weir -- import\`, which reads files of any size.`;
