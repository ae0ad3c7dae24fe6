import { labelsOf } from "./promLine";

/** What stands between the braces of a sample. */
export interface LabelBlock {
  readonly labels: Readonly<Record<string, string>>;
  /** Of the text: the same for the same one, and nearly never for another. */
  readonly hash: number;
}

/** Some engines with every series they have; beyond it all begins anew. */
const mostKept = 4_096;

/** Texts longer than this are settings of a cache, written once. */
const mostCharacters = 256;

const known = new Map<string, LabelBlock>();

/** Reads a block of labels that was found good. Engines write the same ones at every scrape: those are read once. */
export function labelBlock(text: string): LabelBlock {
  const kept = known.get(text);
  if (kept !== undefined) return kept;
  // A part of a text would keep all of that text in memory.
  const own = Buffer.from(text, "utf16le").toString("utf16le");
  const block = { labels: labelsOf(own, 0, own.length), hash: hashOf(own) };
  if (own.length > mostCharacters) return block;
  if (known.size >= mostKept) known.clear();
  known.set(own, block);
  return block;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
