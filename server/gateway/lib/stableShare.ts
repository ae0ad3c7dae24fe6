import { createHash } from "node:crypto";

/** A number from 0 up to 1 that is constant for a text and uniformly distributed over texts: a share of x consists of the texts below x. */
export function stableShare(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}
