import { createHmac, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, writeDurably } from "../lib/durableFile";

const keyBytes = 32;

/**
 * Stands in for the ids of users in what is kept, so that what is kept of one can be deleted without keeping the id: HMAC-SHA256 under a key
 * of this gateway, in `captured.key` of the state directory, which only its user may read.
 */
export class UserPseudonyms {
  readonly #path: string;
  #key: Buffer | null = null;

  constructor(stateDirectory: string) {
    this.#path = join(stateDirectory, "captured.key");
  }

  /** Reads the key, and makes it the first time. Rejects where that is impossible. */
  async load(): Promise<void> {
    if (this.#key !== null) return;
    const kept = await readFile(this.#path).catch((error) => {
      if (isMissing(error)) return null;
      throw error;
    });
    const key = kept?.length === keyBytes ? kept : randomBytes(keyBytes);
    if (key !== kept) await writeDurably(this.#path, key);
    this.#key = key;
  }

  /** 32 hexadecimal digits. Throws before `load`. */
  of(user: string): string {
    if (this.#key === null) throw new Error("The key of pseudonyms is not loaded.");
    return createHmac("sha256", this.#key).update(user).digest("hex").slice(0, 32);
  }
}
