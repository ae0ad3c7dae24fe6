/** Tokens of a block. Engines cache whole blocks of 16 (vLLM) or pages of 1 to 64 (SGLang); larger ones make a smaller index. */
export const BLOCK_TOKENS = 64;
/** Characters that stand for a block where no tokenizer is at hand: four a token, as everywhere in Weir. */
const BLOCK_CHARACTERS = 4 * BLOCK_TOKENS;
/** Maximum number of blocks of a prompt that are hashed: 16,384 tokens. */
export const MOST_BLOCKS = 256;

/**
 * Hashes of a prompt's whole blocks, of which each covers the text from the beginning to the block's end, as vLLM chains those of its
 * cache: two prompts that have the first n hashes in common begin with the same n blocks. A rest that fills no block has none. 32 bits:
 * two different texts share a hash once in four thousand million times, which costs a worse placement and nothing else.
 *
 * @param text the prompt as one text, in the order in which an engine reads it.
 * @param salt hashes of different salts cannot be compared. It is no key: one known text and its hashes reveal it.
 */
export function promptBlocks(text: string, salt = 0): Uint32Array {
  const blocks = new Uint32Array(Math.min(MOST_BLOCKS, Math.floor(text.length / BLOCK_CHARACTERS)));
  let hash = nextBlock(0x811c9dc5, salt);
  for (let block = 0; block < blocks.length; block += 1) {
    const end = (block + 1) * BLOCK_CHARACTERS;
    // FNV-1a over UTF-16 code units.
    for (let at = block * BLOCK_CHARACTERS; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash = mixed(hash);
    blocks[block] = hash;
  }
  return blocks;
}

/** The hash of a block after one with another hash, where a number stands for the block's text. */
export const nextBlock = (before: number, content: number): number => mixed(Math.imul(before ^ content, 0x01000193));

/** How many hashes two prompts have in common from the beginning. */
export function sharedBlocks(one: Uint32Array, other: Uint32Array): number {
  const most = Math.min(one.length, other.length);
  for (let block = 0; block < most; block += 1) if (one[block] !== other[block]) return block;
  return most;
}

/** The finaliser of MurmurHash3: every bit of the input changes each bit of the result with even odds. */
function mixed(hash: number): number {
  let mixing = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixing = Math.imul(mixing ^ (mixing >>> 13), 0xc2b2ae35);
  return (mixing ^ (mixing >>> 16)) >>> 0;
}
