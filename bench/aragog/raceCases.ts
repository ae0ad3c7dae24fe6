import { HALFWAY, INTERVALS, LEARNT, LONGER, ORACLE, PER_INPUT, PER_WORKFLOW, PER_WORKFLOW_ALLOWED, type RaceCase } from "./raceCase";
import { largerLadder, mainLadders, mixedLadder, pairLadder, qwenLadder } from "./raceLadders";

const WORKFLOWS = ["self-refine", "text-to-sql", "voting", "decomposition"] as const;

/** The workflows on which the source varies one thing at a time. */
const VARIED = ["self-refine", "voting"] as const;

const base = { ladder: qwenLadder, gpus: 8, ...HALFWAY } as const;
const few = { only: [PER_WORKFLOW, PER_WORKFLOW_ALLOWED, PER_INPUT, ORACLE, LEARNT] };
const oracles = { only: [PER_WORKFLOW, PER_INPUT, ORACLE] };

const varied = (part: string, change: Partial<RaceCase>): readonly RaceCase[] =>
  VARIED.map((workflow) => ({ ...base, ...few, part, workflow, ...change }));

/** All systems on every workflow, and what the source varies. */
const mainCases: readonly RaceCase[] = mainLadders.flatMap((ladder) =>
  WORKFLOWS.map((workflow): RaceCase => ({ ...base, part: "all", ladder, workflow, latency: true })),
);

/** How wide the beam is, rounds that wait, half the GPUs, families side by side and agents that share a model, as in the source; and what is assumed here, otherwise. */
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
