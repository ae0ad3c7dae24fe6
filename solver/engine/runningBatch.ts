import { SlotDeque } from "../collections/slotDeque";
import { SlotHeap } from "../collections/slotHeap";
import type { StepLoad } from "./replicaModel";
import { DECODING, PREFILLING, type SequenceTable, WAITING } from "./sequenceTable";

/**
 * Sequences that one engine runs: decoding sequences, one token a step, and sequences whose prompts are being prefilled in chunks, in
 * the order of their admission. It counts steps and has no notion of time.
 */
export class RunningBatch {
  /** Number of sequences in it. */
  size = 0;
  decoding = 0;
  /** Engine steps completed; each gave every decoding sequence one token. */
  step = 0;
  /** Cached tokens that the next step's decodes read, including the slot of the token they compute. */
  decodeTokens = 0;
  /** Tokens that the step being filled may still take. */
  budget = 0;
  /** Prompts that the step being filled completes. */
  completing = 0;

  /** Cache reserved for prompts admitted and not fully computed. */
  private prefillTokens = 0;
  /** Tokens that the step computes of the prompt after the completed ones. */
  private partialTokens = 0;
  private readonly prefills = new SlotDeque();
  /** Decoding sequences by the step at which they finish. */
  private readonly finishes: SlotHeap;
  private readonly load: { -readonly [part in keyof StepLoad]: StepLoad[part] } = {
    tokens: 0,
    prefillTokens: 0,
    prefillPairs: 0,
    kvTokensRead: 0,
    sequences: 0,
  };

  constructor(
    private readonly table: SequenceTable,
    maxSequences: number,
  ) {
    this.finishes = new SlotHeap(maxSequences);
  }

  get kvTokens(): number {
    return this.decodeTokens + this.prefillTokens;
  }

  /** Steps until the next decoding sequence finishes; Infinity when none decodes. */
  get stepsToFinish(): number {
    return this.finishes.leastKey - this.step;
  }

  /** Begins to fill a step: decodes first, then the prompts in progress. */
  fillStep(maxBatchedTokens: number): void {
    this.budget = maxBatchedTokens - this.decoding;
    this.load.tokens = this.decoding;
    this.load.prefillPairs = 0;
    this.completing = 0;
    this.partialTokens = 0;
    for (let index = 0; index < this.prefills.size && this.budget > 0; index++) this.takeChunk(this.prefills.at(index));
  }

  /** Adds a sequence, with as much of its prompt in the step as the budget allows. */
  admit(slot: number): void {
    const { table } = this;
    table.state[slot] = PREFILLING;
    table.prefilled[slot] = table.cachedTokens[slot] ?? 0;
    table.link(slot);
    this.prefills.pushBack(slot);
    this.prefillTokens += table.prefillTarget(slot);
    this.size++;
    this.takeChunk(slot);
  }

  /** The work of the filled step; `null` when it only has decodes. */
  prefillLoad(): StepLoad | null {
    if (this.load.tokens === this.decoding) return null;
    this.load.prefillTokens = this.load.tokens - this.decoding;
    this.load.kvTokensRead = this.decodeTokens;
    this.load.sequences = this.decoding + this.completing + (this.partialTokens > 0 ? 1 : 0);
    return this.load;
  }

  /** Adds one token to every decoding sequence for each of some steps. */
  pass(steps: number): void {
    this.step += steps;
    this.decodeTokens += this.decoding * steps;
  }

  /** Removes a sequence that has decoded its last token; -1 when there is no such sequence. */
  popFinished(): number {
    if (this.finishes.leastKey > this.step) return -1;
    const slot = this.finishes.pop();
    this.decoding--;
    this.decodeTokens -= (this.table.inputTokens[slot] ?? 0) + (this.table.outputTokens[slot] ?? 0);
    this.retire(slot);
    return slot;
  }

  /**
   * Completes the first prompt in progress: its sequence gains a token and continues to decode if it has more to generate. Otherwise it
   * is removed, and its state is WAITING.
   */
  completePrefill(): number {
    const { table } = this;
    const slot = this.prefills.popFront();
    this.prefillTokens -= table.prefillTarget(slot);
    const generated = (table.generated[slot] ?? 0) + 1;
    const output = table.outputTokens[slot] ?? 1;
    table.generated[slot] = generated;
    if (generated === output) {
      this.retire(slot);
      return slot;
    }
    table.state[slot] = DECODING;
    table.decodingSince[slot] = this.step;
    this.decoding++;
    this.decodeTokens += table.prefillTarget(slot);
    this.finishes.push(slot, this.step + output - generated, table.order[slot] ?? 0);
    return slot;
  }

  /** Records the chunk of the prompt that the step did not complete, after the completed ones. */
  bookPartial(): void {
    if (this.partialTokens === 0) return;
    const slot = this.prefills.at(0);
    this.table.prefilled[slot] = (this.table.prefilled[slot] ?? 0) + this.partialTokens;
  }

  /** Removes a sequence wherever it is, and frees its cache. */
  leave(slot: number): void {
    const { table } = this;
    if (table.state[slot] === DECODING) {
      table.generated[slot] = this.generatedTokens(slot);
      this.decodeTokens -= table.prefillTarget(slot);
      this.decoding--;
      this.finishes.remove(slot);
    } else {
      this.prefillTokens -= table.prefillTarget(slot);
      this.prefills.remove(slot);
    }
    this.retire(slot);
  }

  /** Tokens that a sequence, in the batch or outside it, has generated by the last completed step. */
  generatedTokens(slot: number): number {
    const { table } = this;
    const since = table.state[slot] === DECODING ? this.step - (table.decodingSince[slot] ?? 0) : 0;
    return (table.generated[slot] ?? 0) + since;
  }

  /** Tokens of cache that a sequence in the batch holds or has reserved. */
  contextTokens(slot: number): number {
    return (this.table.inputTokens[slot] ?? 0) + this.generatedTokens(slot);
  }

  /** The sequence that is served last of all in the batch: the next to be preempted. -1 when the batch is empty. */
  last(): number {
    const { table } = this;
    let last = table.lastAdmitted;
    for (let slot = last; slot !== -1; slot = table.admittedBefore(slot)) if (table.precedes(last, slot)) last = slot;
    return last;
  }

  private takeChunk(slot: number): void {
    const done = this.table.prefilled[slot] ?? 0;
    const missing = this.table.prefillTarget(slot) - done;
    const chunk = Math.min(this.budget, missing);
    if (chunk === missing) this.completing++;
    else this.partialTokens = chunk;
    this.budget -= chunk;
    this.load.tokens += chunk;
    // Each token of the chunk attends to the tokens cached or computed before it and to the chunk up to itself.
    this.load.prefillPairs += chunk * done + (chunk * (chunk + 1)) / 2;
  }

  private retire(slot: number): void {
    this.table.state[slot] = WAITING;
    this.table.unlink(slot);
    this.size--;
  }
}
