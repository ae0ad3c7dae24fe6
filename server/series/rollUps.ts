import { setImmediate as breathe } from "node:timers/promises";
import { reasonOf } from "@/server/lib/reasonOf";
import type { RollUpRepository } from "@/server/store/rollUpRepository";
import type { Summary } from "./bucketGrid";
import { BLOCK_BUCKETS, RollUpBlock } from "./rollUpBlock";

/** A step of roll-ups and how long it is kept. */
export interface RollUpStep {
  readonly stepSeconds: number;
  readonly keepDays: number;
}

/** The only definition of the roll-up steps and their retention: finest step first. */
export const rollUpSteps: readonly RollUpStep[] = [
  { stepSeconds: 10, keepDays: 2 },
  { stepSeconds: 60, keepDays: 30 },
];

export const DAY_MS = 86_400_000;

/** Blocks that wait for a store that cannot be written, for each that is being filled; then the oldest go. */
const WAITING_SHARE = 3;

/** Work before others may have their turn, in blocks that are looked up in the store; to unpack one takes some tenths of a millisecond. */
const LOOKUPS_A_TURN = 160;
const LOOKUPS_AN_UNPACKING = 20;

export interface RollUpOptions {
  readonly clusterId: string;
  readonly repository: RollUpRepository;
  readonly now: () => number;
  readonly steps?: readonly RollUpStep[];
}

export interface RollUpState {
  /** Blocks in memory that are not written as they are. */
  readonly waiting: number;
  /** Blocks given up because the store could not be written for too long. */
  readonly lost: number;
  /** Why the last writing failed, in a sentence; null when it did not. */
  readonly problem: string | null;
}

/** Least, greatest, mean and last values of all series of one cluster, in steps, in the store. */
export interface RollUps {
  add(atMs: number, subject: string, quantity: string, value: number): void;
  /** Writes the changes in one transaction and drops old data. Never throws: `state` reports the problem, and the next call tries again. */
  flush(): Promise<void>;
  /** Steps of a subject that begin from `fromMs` on and before `toMs`, in order; without those in which nothing of it was seen. */
  read(range: StepRange, take: (startMs: number, of: (quantity: string) => Summary | null) => void): Promise<void>;
  subjects(stepSeconds: number, fromMs: number, toMs: number): readonly string[];
  state(): RollUpState;
}

interface StepRange {
  readonly subject: string;
  readonly stepSeconds: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Held {
  readonly subject: string;
  readonly stepSeconds: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly block: RollUpBlock;
  changed: boolean;
}

/**
 * Rolls samples up into blocks in memory, and writes each whole whenever it changed. A block that is opened again, after a restart or when
 * the clock was set back, continues from the store. A crash loses the data since the last write.
 */
export function createRollUps({ clusterId, repository, now, steps = rollUpSteps }: RollUpOptions): RollUps {
  const held = new Map<string, Held>();
  /** The block each subject is writing to, by step. */
  const current = new Map<string, (Held | undefined)[]>();
  let lost = 0;
  let problem: string | null = null;
  let flushing: Promise<void> | null = null;
  /** Work since the last yield to other tasks, over all reading. */
  let worked = 0;

  const spanMs = (stepSeconds: number): number => 1000 * stepSeconds * BLOCK_BUCKETS;
  const nameOf = (subject: string, stepSeconds: number, startMs: number): string => `${stepSeconds} ${startMs} ${subject}`;

  function stored(subject: string, stepSeconds: number, startMs: number): RollUpBlock | null {
    const data = repository.get({ clusterId, subject, stepSeconds, startMs });
    return data === null ? null : RollUpBlock.decode(data);
  }

  function open(subject: string, stepSeconds: number, startMs: number): Held {
    const name = nameOf(subject, stepSeconds, startMs);
    const known = held.get(name);
    if (known !== undefined) return known;
    let block: RollUpBlock | null = null;
    try {
      block = stored(subject, stepSeconds, startMs);
    } catch (error) {
      // Samples arrive on a timer: an exception would end the process.
      problem = `Roll-ups of ${subject} cannot be read: ${reasonOf(error)}.`;
    }
    block ??= new RollUpBlock();
    const fresh = { subject, stepSeconds, startMs, endMs: startMs + spanMs(stepSeconds), block, changed: false };
    held.set(name, fresh);
    return fresh;
  }

  /** Drops blocks that are written and no longer filled, and the oldest if the store cannot be written. */
  function letGo(): void {
    const atMs = now();
    for (const [subject, blocks] of current) {
      // A removed engine gives no more samples.
      if (blocks.every((block) => block === undefined || atMs > block.endMs + spanMs(block.stepSeconds))) current.delete(subject);
    }
    const filled = new Set([...current.values()].flat());
    for (const [name, one] of held) if (!one.changed && !filled.has(one)) held.delete(name);
    const most = (1 + WAITING_SHARE) * Math.max(1, filled.size);
    for (const [name, one] of held) {
      if (held.size <= most) break;
      if (filled.has(one)) continue;
      held.delete(name);
      lost += 1;
    }
  }

  async function flushOnce(): Promise<void> {
    const changed = [...held.values()].filter((one) => one.changed);
    try {
      const rows = [];
      for (const one of changed) {
        one.changed = false;
        const { subject, stepSeconds, startMs } = one;
        rows.push({ clusterId, subject, stepSeconds, startMs, data: await one.block.encode() });
      }
      const keep = steps.map(({ stepSeconds, keepDays }) => ({
        stepSeconds,
        keepFromMs: now() - keepDays * DAY_MS - spanMs(stepSeconds),
      }));
      repository.write(rows, keep);
      problem = null;
    } catch (error) {
      for (const one of changed) one.changed = true;
      problem = `Telemetry of the last minutes is not written: ${reasonOf(error)}.`;
    }
    letGo();
  }

  return {
    add(atMs, subject, quantity, value) {
      const blocks = current.get(subject) ?? [];
      current.set(subject, blocks);
      for (const [at, { stepSeconds }] of steps.entries()) {
        let block = blocks[at];
        if (block === undefined || atMs < block.startMs || atMs >= block.endMs) {
          const span = spanMs(stepSeconds);
          block = open(subject, stepSeconds, Math.floor(atMs / span) * span);
          blocks[at] = block;
        }
        block.block.add(Math.floor((atMs - block.startMs) / (1000 * stepSeconds)), quantity, value);
        block.changed = true;
      }
    },
    async flush() {
      // Samples that arrived during a flush are for the next one.
      while (flushing !== null) await flushing;
      flushing = flushOnce();
      await flushing;
      flushing = null;
    },
    async read({ subject, stepSeconds, fromMs, toMs }, take) {
      const [stepMs, span] = [1000 * stepSeconds, spanMs(stepSeconds)];
      for (let startMs = Math.floor(fromMs / span) * span; startMs < toMs; startMs += span) {
        let block = held.get(nameOf(subject, stepSeconds, startMs))?.block ?? null;
        if (block === null) {
          block = stored(subject, stepSeconds, startMs);
          worked += block === null ? 1 : LOOKUPS_AN_UNPACKING;
          if (worked >= LOOKUPS_A_TURN) {
            worked = 0;
            await breathe();
          }
          if (block === null) continue;
        }
        for (let position = 0; position < BLOCK_BUCKETS; position += 1) {
          const atMs = startMs + position * stepMs;
          const there = block;
          if (atMs >= fromMs && atMs < toMs && there.covered(position)) take(atMs, (quantity) => there.at(position, quantity));
        }
      }
    },
    subjects(stepSeconds, fromMs, toMs) {
      const first = Math.floor(fromMs / spanMs(stepSeconds)) * spanMs(stepSeconds);
      const inMemory = [...held.values()].filter((one) => one.stepSeconds === stepSeconds && one.startMs >= first && one.startMs < toMs);
      const inStore = repository.subjects(clusterId, stepSeconds, { fromMs: first, toMs });
      return [...new Set([...inStore, ...inMemory.map(({ subject }) => subject)])];
    },
    state: () => ({ waiting: [...held.values()].filter((one) => one.changed).length, lost, problem }),
  };
}
