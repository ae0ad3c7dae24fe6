import { promptBlocks, sharedBlocks } from "./promptBlocks";

const none = new Uint32Array();

/**
 * Hashes of the blocks with which each text begins and another one does too: its longest common beginning with any other. Blocks that it
 * shares with no other say nothing of a cache and are left out.
 *
 * @param texts prompts; null where one is not known.
 * @returns undefined where no two begin alike.
 */
export function sharedPrompts(texts: readonly (string | null)[]): readonly Uint32Array[] | undefined {
  const blocks = texts.map((text) => (text === null ? none : promptBlocks(text)));
  // Of texts in the order of their hashes, the neighbours have the longest common beginnings.
  const inOrder = [...blocks.keys()].sort((one, other) => compared(blocks[one] ?? none, blocks[other] ?? none));
  const shared = blocks.map(() => 0);
  for (const [at, row] of inOrder.entries()) {
    const next = inOrder[at + 1];
    if (next === undefined) break;
    const common = sharedBlocks(blocks[row] ?? none, blocks[next] ?? none);
    shared[row] = Math.max(shared[row] ?? 0, common);
    shared[next] = Math.max(shared[next] ?? 0, common);
  }
  return shared.some((common) => common > 0) ? blocks.map((own, row) => own.slice(0, shared[row])) : undefined;
}

/** Lexicographic order. */
function compared(one: Uint32Array, other: Uint32Array): number {
  const at = sharedBlocks(one, other);
  return (one[at] ?? -1) - (other[at] ?? -1);
}
