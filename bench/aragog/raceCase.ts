import { largerLadder, mainLadders, mixedLadder, pairLadder, qwenLadder, type RaceLadder } from "./raceLadders";

/** No publication gives the similarity of a program's stages, or how often a wrong answer misleads: halfway between the ends. */
export const HALFWAY = { correlation: 0.5, misleads: 0.5 } as const;

export const ORACLE = "Aragog, oracle sets";
export const LEARNT = "Aragog";
export const PER_INPUT = "Per-input";
export const PER_WORKFLOW = "Per-workflow";

/** Per-workflow with the same permitted loss as learnt heads: their reference. The source's may lose nothing on average. */
export const PER_WORKFLOW_ALLOWED = "Per-workflow, 2 points allowed";

/** A system whose rounds, except the first, wait for so many seconds after the previous one, as the source polls. */
export const everySeconds = (name: string, seconds: number): string => `${name}, rounds every ${seconds} s`;

export const allGpus = (name: string): string => `${name}, all 8 GPUs`;

/** Aragog on all 8 GPUs whose heads are as good as the source's, modelled. */
export const LIKE_SOURCE = "Aragog, all 8 GPUs, heads as the source's (modelled)";

/** Seconds between rounds in the race. */
export const INTERVALS = [0.1, 0.5] as const;

/** Runs that show the value of latencies in overload. */
export const LONGER = "five times as long";

/** One workflow on one ladder, with the settings of its race. */
export interface RaceCase {
  /** Its part of the source's evaluation: "all", "half the GPUs". */
  readonly part: string;
  readonly ladder: RaceLadder;
  readonly workflow: string;
  readonly gpus: 8 | 4;
  /** Whether agents must share a model, as in the source: critic and refiner, all voters. */
  readonly constrained?: true;
  readonly correlation: number;
  readonly misleads: number;
  /** Systems by name, as `aragogSystems` has them; left out: all. */
  readonly only?: readonly string[];
  /** Widths of beams that are also raced, with an oracle's sets. */
  readonly beams?: readonly number[];
  /** Seeds, and how often programs fill all places, if different from those of the race. */
  readonly seeds?: readonly number[];
  readonly batches?: number;
  /**
   * Seconds between rounds at which per-input and Aragog with an oracle's sets are also raced; else a round is held whenever a place is
   * free.
   */
  readonly roundSeconds?: readonly number[];
  /** Whether latency is also raced, at common rates; else throughput alone. */
  readonly latency?: true;
}

/** One system's results at one load, each figure seed by seed. */
export interface RaceRow {
  readonly part: string;
  readonly ladder: string;
  readonly workflow: string;
  readonly correlation: number;
  readonly misleads: number;
  readonly system: string;
  /** `overload`, or the system and the share of its maximum that give this rate. */
  readonly load: string;
  readonly offeredPerSecond: number;
  readonly programsPerSecond: readonly number[];
  readonly p25Seconds: readonly number[];
  readonly p50Seconds: readonly number[];
  readonly p95Seconds: readonly number[];
  readonly quality: readonly number[];
  /** Quality of the same programs, all on the largest model. */
  readonly largestQuality: readonly number[];
  readonly unserved: number;
  /** Requests by model, smallest first, in shares. */
  readonly shares: readonly number[];
}

const WORKFLOWS = ["self-refine", "text-to-sql", "voting", "decomposition"] as const;

/** The workflows on which the source varies one thing at a time. */
const VARIED = ["self-refine", "voting"] as const;

const base = { ladder: qwenLadder, gpus: 8, ...HALFWAY } as const;
const few = { only: [PER_WORKFLOW, PER_WORKFLOW_ALLOWED, PER_INPUT, ORACLE, LEARNT] };
const oracles = { only: [PER_WORKFLOW, PER_INPUT, ORACLE] };

const varied = (part: string, change: Partial<RaceCase>): readonly RaceCase[] =>
  VARIED.map((workflow) => ({ ...base, ...few, part, workflow, ...change }));

/** All systems on every workflow, and the source's variations. */
const mainCases: readonly RaceCase[] = mainLadders.flatMap((ladder) =>
  WORKFLOWS.map((workflow): RaceCase => ({ ...base, part: "all", ladder, workflow, latency: true })),
);

/**
 * Beam widths, waiting rounds, half the GPUs, parallel families and agents that share a model, as in the source; and other values of the
 * assumptions.
 */
const variedCases: readonly RaceCase[] = [
  ...varied("beams", { ...oracles, beams: [1, 2, 8] }),
  ...varied("rounds", { ...oracles, beams: [1, 8], roundSeconds: INTERVALS }),
  ...varied("heads that tell more", { ladder: pairLadder }),
  ...varied("half the GPUs", { gpus: 4 }),
  ...varied("mixed families", { ladder: mixedLadder }),
  ...varied("agents share a model", { constrained: true }),
  ...varied("larger models", { ladder: largerLadder }),
  ...varied("stages not alike", { correlation: 0 }),
  ...varied("stages all alike", { correlation: 1 }),
  { ...base, ...few, part: "never misled", workflow: "text-to-sql", misleads: 0 },
  { ...base, ...few, part: "always misled", workflow: "text-to-sql", misleads: 1 },
  { ...base, ...oracles, part: LONGER, workflow: "self-refine", latency: true, seeds: [1], batches: 60 },
];

export const raceCases: readonly RaceCase[] = [...mainCases, ...variedCases];
