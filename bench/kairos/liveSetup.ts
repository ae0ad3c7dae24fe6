import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { arrivals } from "@/solver/engine/arrivals";
import type { OrderDocument, PlaceDocument, PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflows } from "@/solver/workflow/templates";
import { generatedWorkload } from "@/solver/workload/generated";
import { emulatedReplica } from "../agreement/setup";

/** The source's applications. */
const applications = ["qa-router", "report", "code-with-feedback"] as const;

const liveModel = "qwen2.5-7b";

/** Programs of the three applications, and their engines. */
export interface LiveSetup {
  readonly sample: ProgramSample;
  readonly replicas: readonly ClusterReplica[];
  /** Limit of each replica: further requests wait in the gateway's queue, where the policy orders them. */
  readonly maxInFlight: number;
  readonly programsPerSecond: number;
  /** Queueing divided by end-to-end time in the simulator, first come, first served. */
  readonly queueShare: number;
}

interface SetupOptions {
  readonly programs: number;
  readonly engines: number;
  readonly maxInFlight: number;
  /** Target share of queueing in the programs' time under `firstComeFirstServed`. */
  readonly queueShare: number;
  readonly seed: number;
}

const aging = { agingThreshold: 1000 } as const;

/** A policy over the only model; the queue is short compared with the releases after which work ages. */
export const livePolicy = (order: Exclude<OrderDocument["kind"], "mlfq" | "deadline">, place: PlaceDocument["kind"]): PolicyDocument => ({
  kind: "fixed",
  model: liveModel,
  order: order === "fcfs" ? { kind: order } : { kind: order, ...aging },
  place: { kind: place },
});

export const firstComeFirstServed = livePolicy("fcfs", "least-load");

/** Steps of the search for the rate: each halves the remaining range. */
const STEPS = 12;
/** Range of the search for the rate, in programs a second. */
const RATES = { low: 0.02, high: 20 } as const;

/**
 * Equal shares of the three applications at Poisson arrivals, at the rate with the requested share of queueing. Equal options give equal
 * setups.
 */
export function liveSetup({ programs, engines, maxInFlight, queueShare, seed }: SetupOptions): LiveSetup {
  const { outcomes: table } = generatedWorkload({ prompts: 1000, ladder: ["qwen2.5-3b", liveModel], seed });
  const outcomes = { ...table, models: table.models.filter(({ model }) => model === liveModel) };
  const replicas = Array.from({ length: engines }, (_, at) => ({
    ...{ id: `${liveModel}-${at}`, model: liveModel, replica: emulatedReplica(liveModel), maxInFlight },
  }));
  const draw = (programsPerSecond: number): ProgramSample =>
    drawPrograms({
      outcomes,
      prompts: Int32Array.from(outcomes.promptIds.keys()),
      mix: workflows.filter(({ name }) => applications.some((each) => each === name)).map((workflow) => ({ workflow, share: 1 })),
      correlation: 0.5,
      arrivalSeconds: arrivals({ law: { kind: "poisson" }, requests: programs, requestsPerSecond: programsPerSecond, seed }),
      seed,
    });
  let [low, high]: readonly [number, number] = [RATES.low, RATES.high];
  for (let step = 0; step < STEPS; step += 1) {
    const middle = Math.sqrt(low * high);
    if (queueingShare(draw(middle), replicas) < queueShare) low = middle;
    else high = middle;
  }
  const sample = draw(high);
  return { sample, replicas, maxInFlight, programsPerSecond: high, queueShare: queueingShare(sample, replicas) };
}

function queueingShare(sample: ProgramSample, replicas: readonly ClusterReplica[]): number {
  const { queueSeconds, endToEndSeconds } = simulatePrograms({ policy: buildPolicy(firstComeFirstServed), sample, replicas });
  const sum = (values: Float64Array): number => values.reduce((all, value) => all + value, 0);
  return sum(queueSeconds) / sum(endToEndSeconds);
}
