import type { EngineFeedback } from "./replicaModel";
import type { RunningBatch } from "./runningBatch";
import { DECODING, type SequenceTable } from "./sequenceTable";
import type { WaitingQueue } from "./waitingQueue";

/**
 * Multi-level feedback inside one engine, over the service that its requests consume: the baseline MLFQ of Chimera, section 4.2, which vLLM
 * does not have by itself. A request's priority is its level, 0 the highest. After `quantaSteps[level]` steps in the batch it goes down one
 * level, and at a step boundary the most urgent waiting request takes the place of running requests of lower levels where it does not fit
 * otherwise. A request that is taken out loses its cache, keeps its tokens and its consumed service, and waits at its level. It is not taken
 * out before it has made a token since it entered: else two that take turns might compute their prompts again for ever. At most one waiting
 * request gets room so in a step.
 */
export class Feedback {
  /** @throws RangeError where a quantum is no whole number of at least 1. */
  constructor(
    private readonly table: SequenceTable,
    private readonly batch: RunningBatch,
    private readonly settings: EngineFeedback,
  ) {
    const wrong = settings.quantaSteps.find((steps) => !(Number.isInteger(steps) && steps >= 1));
    if (wrong !== undefined) throw new RangeError(`A quantum of service is a whole number of steps of at least 1, found ${wrong}`);
  }

  /** A step has admitted a request: its service counts from there. */
  taken(slot: number): void {
    this.table.levelSince[slot] = this.batch.step;
  }

  /** Counts the service of all in the batch, and moves those down that have used up the quantum of their level. */
  demote(): void {
    const { table, batch } = this;
    const { quantaSteps } = this.settings;
    for (let slot = table.lastAdmitted; slot !== -1; slot = table.admittedBefore(slot)) {
      let served = (table.levelServed[slot] ?? 0) + batch.step - (table.levelSince[slot] ?? 0);
      let level = table.priority[slot] ?? 0;
      for (let quantum = quantaSteps[level]; quantum !== undefined && served >= quantum; quantum = quantaSteps[level]) {
        served -= quantum;
        level += 1;
      }
      table.priority[slot] = level;
      table.levelServed[slot] = served;
      table.levelSince[slot] = batch.step;
    }
  }

  /** Steps until the next in the batch moves down, right after `demote`; Infinity where none does. */
  stepsToDemotion(): number {
    const { table } = this;
    let least = Number.POSITIVE_INFINITY;
    for (let slot = table.lastAdmitted; slot !== -1; slot = table.admittedBefore(slot)) {
      const quantum = this.settings.quantaSteps[table.priority[slot] ?? 0];
      if (quantum !== undefined) least = Math.min(least, quantum - (table.levelServed[slot] ?? 0));
    }
    return least;
  }

  /** The request that makes room for the head of the queue: the one served last of those that may be taken out for it; -1 for none. */
  victim(head: number): number {
    const { table } = this;
    let last = -1;
    for (let slot = table.lastAdmitted; slot !== -1; slot = table.admittedBefore(slot))
      if (this.mayLeave(slot, head) && (last === -1 || table.precedes(last, slot))) last = slot;
    return last;
  }

  private mayLeave(slot: number, head: number): boolean {
    return this.table.state[slot] === DECODING && this.table.outranks(head, slot);
  }

  /**
   * Whether the head of the queue fits once those that may leave for it are out of the batch.
   *
   * @param bounds of the engine: sequences, and tokens of KV cache.
   */
  makesRoom(queue: WaitingQueue, bounds: { readonly maxSequences: number; readonly kvTokens: number }): boolean {
    if (!queue.ready) return false;
    const { table } = this;
    const { head } = queue;
    let sequences = 0;
    let tokens = table.prefillTarget(head);
    let lower = 0;
    for (let slot = table.lastAdmitted; slot !== -1; slot = table.admittedBefore(slot)) {
      if (this.mayLeave(slot, head)) {
        lower += 1;
        continue;
      }
      sequences += 1;
      tokens += this.batch.contextTokens(slot);
    }
    return lower > 0 && sequences < bounds.maxSequences && tokens < bounds.kvTokens;
  }
}
