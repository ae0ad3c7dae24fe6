import { BlockLru } from "./blockLru";
import { BLOCK_TOKENS } from "./promptBlocks";

/**
 * The prefix cache of one modelled engine. It holds the blocks of the prompts in its batch, and in the memory that its batch leaves free
 * those of earlier prompts, of which the least recently used are evicted first (vLLM, automatic prefix caching): whenever a request
 * enters, as many as its batch has taken room from. Blocks of answers are not kept, although engines have them too: what a prompt repeats
 * of an answer counts as a miss.
 */
export class EngineCache {
  /** Prompts in the batch that hold a block. */
  private readonly held = new Map<number, number>();
  private readonly free = new BlockLru();
  /** The blocks that each request in the batch holds. */
  private readonly prompts = new Map<number, Uint32Array>();
  /** Tokens of prompts that were looked up, and those of them that were found. */
  queriedTokens = 0;
  foundTokens = 0;

  /** Blocks in the cache that no prompt of the batch holds. */
  get freeBlocks(): number {
    return this.free.size;
  }

  /**
   * A request enters the batch.
   *
   * @param promptTokens of the whole prompt.
   * @param freeTokens memory that the batch leaves, without this request.
   * @returns how many of its prompt's tokens are in the cache; the last is computed in any case.
   */
  enter(
    request: number,
    prompt: Uint32Array,
    { promptTokens, freeTokens }: { readonly promptTokens: number; readonly freeTokens: number },
  ): number {
    this.free.trim(Math.floor(freeTokens / BLOCK_TOKENS));
    let matched = 0;
    while (matched < prompt.length && this.has(prompt[matched] ?? 0)) matched += 1;
    this.hold(request, prompt.subarray(0, matched));
    const found = Math.max(0, Math.min(matched * BLOCK_TOKENS, promptTokens - 1));
    this.queriedTokens += promptTokens;
    this.foundTokens += found;
    return found;
  }

  /** The prompt of a request in the batch is computed: from now on others find all of it. */
  computed(request: number, prompt: Uint32Array): void {
    const before = this.prompts.get(request)?.length ?? 0;
    if (before < prompt.length) this.hold(request, prompt, before);
  }

  /** A request leaves the batch: its blocks stay as the most recently used. */
  leave(request: number): void {
    const prompt = this.prompts.get(request);
    if (prompt === undefined) return;
    this.prompts.delete(request);
    for (const block of prompt) {
      const holders = (this.held.get(block) ?? 0) - 1;
      if (holders > 0) this.held.set(block, holders);
      else this.held.delete(block);
    }
    this.free.use(prompt.filter((block) => !this.held.has(block)));
  }

  private has(block: number): boolean {
    return this.held.has(block) || this.free.has(block);
  }

  /** Holds a prompt's blocks, of which it holds the first already. */
  private hold(request: number, prompt: Uint32Array, from = 0): void {
    this.prompts.set(request, prompt);
    for (let at = from; at < prompt.length; at += 1) {
      const block = prompt[at] ?? 0;
      this.held.set(block, (this.held.get(block) ?? 0) + 1);
      this.free.remove(block);
    }
  }
}
