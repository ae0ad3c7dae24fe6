import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { arrivals } from "@/solver/engine/arrivals";
import { quantile } from "@/solver/numeric/quantile";
import type { PlaceDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { type AgentRun, measuredPrograms } from "@/solver/workflow/measuredPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { type SharedPrefixes, withSharedPrefixes } from "@/solver/workflow/sharedPrefixes";
import { shippedReplica } from "../lib/replica";

const MODEL = "llama-3.1-8b";
const REPLICAS = 4;
const PROGRAMS = 300;
export const SEEDS = [1, 2, 3] as const;
/** Programs a second: the more there are, the fewer earlier prompts the engines' memory has room for. */
export const RATES = [0.5, 1, 1.5] as const;

export const places: readonly (readonly [name: string, place: PlaceDocument])[] = [
  ["prefix", { kind: "prefix" }],
  ["session affinity", { kind: "least-load", affinity: { ratio: 0.5 } }],
  ["least load", { kind: "least-load" }],
  ["round-robin", { kind: "round-robin" }],
];

/** What one place gives at one load under one seed. */
export interface PlacementFigures {
  /** Share of the prompts' tokens that engines found in their caches, 0..100. */
  readonly hitPercent: number;
  readonly ttftP50: number;
  readonly ttftP95: number;
}

/** Engines as on one card each; `kvTokens` as the profile says. */
const replica = shippedReplica(MODEL, "l40s");
const engines = Array.from({ length: REPLICAS }, (_, index) => ({
  ...{ id: `engine-${index}`, model: MODEL, replica, maxInFlight: replica.maxSequences },
}));

/** Programs of recorded runs at one a second, with modelled prefixes. */
export function programsOf(runs: readonly AgentRun[], shared: SharedPrefixes, seed: number): ProgramSample {
  const arrivalSeconds = arrivals({ law: { kind: "poisson" }, requests: PROGRAMS, requestsPerSecond: 1, seed });
  return withSharedPrefixes(measuredPrograms({ runs, models: [MODEL], arrivalSeconds, seed }), shared);
}

/** Serves the programs at a rate, in programs a second, under one place. */
export function placed(sample: ProgramSample, rate: number, place: PlaceDocument): PlacementFigures {
  const policy = buildPolicy({ kind: "fixed", model: MODEL, order: { kind: "fcfs" }, place });
  const atRate = { ...sample, arrivalSeconds: sample.arrivalSeconds.map((seconds) => seconds / rate) };
  const { prefixHitShare, firstTokenSeconds, unserved } = simulatePrograms({
    policy,
    sample: atRate,
    replicas: engines,
    telemetrySeconds: 1,
  });
  if (unserved > 0) throw new Error(`${unserved} programs were not served`);
  return {
    hitPercent: 100 * (prefixHitShare?.[0] ?? Number.NaN),
    ttftP50: quantile(firstTokenSeconds, 0.5),
    ttftP95: quantile(firstTokenSeconds, 0.95),
  };
}
