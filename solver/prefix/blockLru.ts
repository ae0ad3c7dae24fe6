import { BoundedMap } from "@/solver/collections/boundedMap";

/** A bounded set of blocks, of which the least recently used leave first, and of one prompt the last before the first. */
export class BlockLru {
  private readonly blocks = new BoundedMap<true, number>(Number.POSITIVE_INFINITY);

  get size(): number {
    return this.blocks.size;
  }

  has(block: number): boolean {
    return this.blocks.has(block);
  }

  /** How many of a prompt's blocks are in it, from the beginning. */
  matched(prompt: Uint32Array): number {
    let matched = 0;
    while (matched < prompt.length && this.blocks.has(prompt[matched] ?? 0)) matched += 1;
    return matched;
  }

  /** Adds a prompt's blocks as the most recently used, and keeps at most so many in all. */
  use(prompt: Uint32Array, bound = Number.POSITIVE_INFINITY): void {
    for (let block = prompt.length - 1; block >= 0; block -= 1) this.blocks.put(prompt[block] ?? 0, true);
    this.trim(bound);
  }

  /** Keeps at most so many. */
  trim(bound: number): void {
    while (this.blocks.size > Math.max(0, bound)) this.blocks.takeOldest();
  }

  /** Takes a block out. */
  remove(block: number): void {
    this.blocks.delete(block);
  }
}
