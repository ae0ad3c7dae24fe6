import { createHash } from "node:crypto";

/** A number from 0 up to 1 that is always the same for a text and evenly spread over texts: what is below a share is that share of them. */
export function stableShare(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}
