import { allBaselines } from "@/solver/baselines/allBaselines";
import { baseSeconds, busiestLoad, drawTraffic, highestRate, measure, routedBy, type Traffic } from "@/solver/baselines/measure";
import { cascadeText, gpusOf, judgementsOf, type System } from "@/solver/baselines/system";
import { costUsdPerRequest } from "@/solver/cascade/choose/allocate";
import { type OracleGain, oracleGain } from "@/solver/cascade/routing/noiseFloor";
import { planningSample } from "@/solver/cascade/routing/routing";
import type { OutcomeTable } from "@/solver/workload/workload";
import { readByRouter } from "../planner/situationOf";
import { type ComparisonContext, type GroundRequest, groundOf, planAt, planAtLoad, systemOf } from "./compareGround";

/** The rate of a comparison: given, or chosen so that the load of the busiest stage of Weir's plan is within bounds. */
export type ComparedRate =
  | { readonly kind: "rate"; readonly requestsPerSecond: number }
  | { readonly kind: "load"; readonly least: number; readonly most: number };

export interface CompareRequest extends GroundRequest {
  readonly floors: readonly number[];
  /** The outcome table with a trained predictor's out-of-fold scores, for the trained router; else why there is none, in a sentence. */
  readonly trained: OutcomeTable | string;
  readonly rate: ComparedRate;
  /** The deadline behind the highest throughput, as a multiple of the base. */
  readonly sloScale: number;
  /** Most requests simulated per measurement; fewer if there are fewer recorded arrivals. */
  readonly requests: number;
  readonly progress: (line: string) => void;
}

/** The results of one system on the half of the prompts that no plan used. */
export interface ComparedSystem {
  /** Its kind of system; means over cases are grouped by it. */
  readonly kind: string;
  readonly name: string;
  readonly cascade: string;
  readonly gpus: number;
  /** Mean label of accepted answers on the measuring half. */
  readonly quality: number;
  readonly p95Seconds: number;
  readonly meanSeconds: number;
  /** Smallest deadline that 95 % of requests keep, relative to the base. */
  readonly sloScale: number;
  /** Load of its busiest stage; from 1 on it is overloaded, and its SLO scale grows with the length of the run. */
  readonly busiestLoad: number;
  /** Highest rate that it sustains and at which 95 % keep the stated SLO scale; 0 if none was found. */
  readonly highestRequestsPerSecond: number;
  /** At its highest rate; null if that is 0. */
  readonly costUsdPerRequest: number | null;
  /** Its SLO scale over Weir's, and Weir's highest rate over its own (null if that is 0): above 1 Weir is better. */
  readonly against: { readonly sloScale: number; readonly throughput: number | null };
}

export interface ComparedCase {
  readonly workload: string;
  readonly floor: number;
  readonly requestsPerSecond: number;
  /** The same base for all systems. */
  readonly baseSeconds: number;
  /** The gain from picking each prompt's best answer on the measuring half: the reference for the oracle router. */
  readonly oracle: OracleGain;
  /** Weir's plan first; empty if the floor cannot be reached. */
  readonly systems: readonly ComparedSystem[];
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

/** Precision of the highest rate found, as a factor. */
const RATE_TOLERANCE = 1.01;

/**
 * Compares Weir's plan with the baselines, floor by floor. All plan on one half of the prompts, by the same simulator, profile and
 * replica shapes, and are measured by simulating the whole system on the other half, under the same arrivals. Plans are
 * kept when the rate is raised to find the highest. Deterministic.
 */
export function compareSystems(asked: CompareRequest): ComparedCase[] {
  const request = { ...asked, situation: readByRouter(asked.situation) };
  const { situation, floors, progress } = request;
  let guess: number | null = null;
  return floors.map((floor) => {
    progress(`${situation.workload.name}, floor ${floor}`);
    const compared = compareCase(request, { floor, guess });
    guess = compared.requestsPerSecond;
    return compared;
  });
}

function compareCase(request: CompareRequest, { floor, guess }: { readonly floor: number; readonly guess: number | null }): ComparedCase {
  const ground = groundOf(request);
  const { situation, sloScale, requests, progress } = request;
  const { workload, cluster } = situation;
  const base = baseSeconds(workload.outcomes, ground.measuring, ground);
  const planned =
    request.rate.kind === "rate"
      ? planAt(ground, floor, request.rate.requestsPerSecond)
      : planAtLoad(ground, { ...request.rate, floor, guess });
  const { label } = planningSample(workload.outcomes, ground.measuring, ground.models);
  // No workload contains two copies of one model, whose disagreement would determine the noise.
  const oracle = oracleGain(label, null);
  const common = { workload: workload.name, floor, requestsPerSecond: planned.requestsPerSecond, baseSeconds: base, oracle };
  if (planned.outcome === "none") return { ...common, systems: [], refused: [{ name: "Weir", reason: planned.reason }] };
  const { explorer, plan, requestsPerSecond } = planned;
  const { models } = explorer.input.sample;
  const baselines = [
    ...allBaselines(
      { explorer, floor, nodes: cluster.nodes, outcomes: workload.outcomes, planning: ground.planning, trained: request.trained },
      {
        stages: plan.policy.stages.map(({ model }) => models.indexOf(model)),
        thresholds: plan.policy.thresholds,
        startBelow: plan.policy.directStart?.below ?? 0,
      },
    ),
  ];
  const traffic = drawTraffic(
    { outcomes: workload.outcomes, arrivalSeconds: workload.arrivalSeconds, judgeSeconds: ground.judge.secondsPerCall },
    { rows: ground.measuring, requests, seed: workload.seed },
  );
  const deadline = sloScale * base;
  const measured: Omit<ComparedSystem, "against">[] = [];
  const made = baselines.flatMap(({ kind, baseline }) => (baseline.outcome === "system" ? [{ kind, system: baseline.system }] : []));
  for (const { kind, system } of [{ kind: "Weir", system: systemOf(plan, workload.outcomes) }, ...made]) {
    const own = measuredSystem(ground, system, { traffic, requestsPerSecond, deadline });
    measured.push({ kind, ...own, sloScale: own.p95Seconds / base });
    progress(`  ${system.name}: SLO scale ${(own.p95Seconds / base).toFixed(2)}, ${own.highestRequestsPerSecond.toFixed(1)} requests/s`);
  }
  const ours = measured[0];
  const systems = measured.map((one) => ({
    ...one,
    against: {
      sloScale: one.sloScale / (ours?.sloScale ?? Number.NaN),
      throughput: one.highestRequestsPerSecond > 0 ? (ours?.highestRequestsPerSecond ?? Number.NaN) / one.highestRequestsPerSecond : null,
    },
  }));
  const refused = baselines.flatMap(({ baseline }) =>
    baseline.outcome === "none" ? [{ name: baseline.name, reason: baseline.reason }] : [],
  );
  return { ...common, systems, refused };
}

function measuredSystem(
  ground: ComparisonContext,
  system: System,
  { traffic, requestsPerSecond, deadline }: { readonly traffic: Traffic; readonly requestsPerSecond: number; readonly deadline: number },
): Omit<ComparedSystem, "against" | "kind" | "sloScale"> {
  const { request, measuring, judge } = ground;
  const { workload, cluster } = request.situation;
  const at = (rate: number) => measure(system, traffic, { ...ground, requestsPerSecond: rate });
  const { percentileSeconds: p95Seconds, meanSeconds } = at(requestsPerSecond);
  const load = busiestLoad(system, { outcomes: workload.outcomes, rows: measuring }, { ...ground, requestsPerSecond });
  // A run of finite length may end before the queue of an overloaded stage has grown past the deadline: such a rate does not count.
  const keepsUp = (rate: number): boolean => (load * rate) / requestsPerSecond < 1;
  const highest = highestRate((rate) => keepsUp(rate) && at(rate).percentileSeconds <= deadline, requestsPerSecond, RATE_TOLERANCE);
  const { quality, share } = routedBy(system, workload.outcomes, measuring);
  const gpus = gpusOf(system);
  const judgements = judgementsOf(system, share);
  return {
    name: system.name,
    cascade: cascadeText(system),
    gpus,
    quality,
    p95Seconds,
    meanSeconds,
    busiestLoad: load,
    highestRequestsPerSecond: highest,
    costUsdPerRequest:
      highest > 0 ? costUsdPerRequest({ gpus, usdPerGpuHour: cluster.usdPerGpuHour, requestsPerSecond: highest, judgements, judge }) : null,
  };
}
