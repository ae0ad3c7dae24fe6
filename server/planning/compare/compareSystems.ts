import { baselineMakers, kindAmong } from "@/solver/baselines/allBaselines";
import { baseSeconds, busiestLoad, drawTraffic, highestRate, measure, routedBy, type Traffic } from "@/solver/baselines/measure";
import { cascadeText, gpusOf, judgementsOf, type System, systemOf } from "@/solver/baselines/system";
import { costUsdPerRequest } from "@/solver/cascade/choose/allocate";
import { type OracleGain, oracleGain } from "@/solver/cascade/routing/noiseFloor";
import { planningSample } from "@/solver/cascade/routing/routing";
import type { OutcomeTable } from "@/solver/workload/workload";
import { readByRouter } from "../planner/situationOf";
import { type ComparisonContext, explorerAt, type GroundRequest, groundOf, planAt, planAtLoad } from "./compareGround";
import { cascadeOf, replannedWeir } from "./replannedWeir";

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
  /** Whether every system is also planned anew for each rate when its highest is looked for: several plans for each system. */
  readonly replan: boolean;
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
  /** Highest rate that it sustains and at which 95 % keep the stated SLO scale, its plan kept; 0 if none was found. */
  readonly highestRequestsPerSecond: number;
  /** The same with the system planned anew for every rate, to 5 %; null where that was not asked. */
  readonly replannedRequestsPerSecond: number | null;
  /** At its highest rate; null if that is 0. */
  readonly costUsdPerRequest: number | null;
  /** Its SLO scale over Weir's, and Weir's highest rate over its own (null if that is 0): above 1 Weir is better. */
  readonly against: { readonly sloScale: number; readonly throughput: number | null; readonly replanned: number | null };
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

/** The same where every rate takes a plan. */
const REPLANNED_TOLERANCE = 1.05;

/**
 * Compares Weir's plan with the baselines, floor by floor. All plan on one half of the prompts, by the same simulator, profile and
 * replica shapes, and are measured by simulating the whole system on the other half, under the same arrivals. The highest rate is
 * found with the plan kept, and again with every system planned anew for each rate. Deterministic.
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
  const { outcomes } = workload;
  const fixed = { floor, nodes: cluster.nodes, outcomes, planning: ground.planning };
  const baselines: NamedSystem[] = [];
  const refused: { readonly name: string; readonly reason: string }[] = [];
  const replanWeir = replannedWeir(ground, floor, planned);
  for (const { kind, make, ablates } of baselineMakers(ground.models.length, request.trained)) {
    const baseline = make({ ...fixed, explorer }, cascadeOf(planned));
    if (baseline.outcome === "none") {
      refused.push({ name: baseline.name, reason: baseline.reason });
      continue;
    }
    const at = (rate: number): System | null => {
      const own = ablates ? replanWeir(rate) : planned;
      const made = own === null ? null : make({ ...fixed, explorer: explorerAt(ground, rate) }, cascadeOf(own));
      return made?.outcome === "system" ? made.system : null;
    };
    baselines.push({ kind: kindAmong(kind, baselines), system: baseline.system, at });
  }
  const weirAt = (rate: number): System | null => {
    const own = replanWeir(rate);
    return own === null ? null : systemOf(own.plan, outcomes);
  };
  const traffic = drawTraffic(
    { outcomes: workload.outcomes, arrivalSeconds: workload.arrivalSeconds, judgeSeconds: ground.judge.secondsPerCall },
    { rows: ground.measuring, requests, seed: workload.seed },
  );
  const deadline = sloScale * base;
  const measured: Omit<ComparedSystem, "against">[] = [];
  for (const { kind, system, at } of [{ kind: "Weir", system: systemOf(plan, outcomes), at: weirAt }, ...baselines]) {
    const own = measuredSystem(ground, system, { traffic, requestsPerSecond, deadline, at: request.replan ? at : null });
    measured.push({ kind, ...own, sloScale: own.p95Seconds / base });
    progress(`  ${system.name}: SLO scale ${(own.p95Seconds / base).toFixed(2)}, ${own.highestRequestsPerSecond.toFixed(1)} requests/s`);
  }
  const ours = measured[0];
  const systems = measured.map((one) => ({
    ...one,
    against: {
      sloScale: one.sloScale / (ours?.sloScale ?? Number.NaN),
      throughput: one.highestRequestsPerSecond > 0 ? (ours?.highestRequestsPerSecond ?? Number.NaN) / one.highestRequestsPerSecond : null,
      replanned: one.replannedRequestsPerSecond ? (ours?.replannedRequestsPerSecond ?? Number.NaN) / one.replannedRequestsPerSecond : null,
    },
  }));
  return { ...common, systems, refused };
}

interface NamedSystem {
  readonly kind: string;
  readonly system: System;
  /** The system planned for another rate; null: none. */
  at(requestsPerSecond: number): System | null;
}

interface Measuring {
  readonly traffic: Traffic;
  readonly requestsPerSecond: number;
  readonly deadline: number;
  /** The system planned for another rate; null: highest rates are looked for with the plan kept only. */
  readonly at: NamedSystem["at"] | null;
}

function measuredSystem(
  ground: ComparisonContext,
  system: System,
  { traffic, requestsPerSecond, deadline, at: replanAt }: Measuring,
): Omit<ComparedSystem, "against" | "kind" | "sloScale"> {
  const { request, measuring, judge } = ground;
  const { workload, cluster } = request.situation;
  const at = (rate: number) => measure(system, traffic, { ...ground, requestsPerSecond: rate });
  const { percentileSeconds: p95Seconds, meanSeconds } = at(requestsPerSecond);
  const load = busiestLoad(system, { outcomes: workload.outcomes, rows: measuring }, { ...ground, requestsPerSecond });
  // A run of finite length may end before the queue of an overloaded stage has grown past the deadline: such a rate does not count.
  const keepsUp = (rate: number): boolean => (load * rate) / requestsPerSecond < 1;
  const highest = highestRate((rate) => keepsUp(rate) && at(rate).percentileSeconds <= deadline, requestsPerSecond, RATE_TOLERANCE);
  const keepsAnew = (other: System, rate: number): boolean =>
    busiestLoad(other, { outcomes: workload.outcomes, rows: measuring }, { ...ground, requestsPerSecond: rate }) < 1 &&
    measure(other, traffic, { ...ground, requestsPerSecond: rate }).percentileSeconds <= deadline;
  const anew = (rate: number): boolean => {
    const other = replanAt?.(rate) ?? null;
    return other !== null && keepsAnew(other, rate);
  };
  const routed = routedBy(system, workload.outcomes, measuring);
  const gpus = gpusOf(system);
  const judgements = judgementsOf(system, routed);
  return {
    name: system.name,
    cascade: cascadeText(system),
    gpus,
    quality: routed.quality,
    p95Seconds,
    meanSeconds,
    busiestLoad: load,
    highestRequestsPerSecond: highest,
    replannedRequestsPerSecond:
      replanAt === null ? null : highestRate(anew, highest > 0 ? highest : requestsPerSecond, REPLANNED_TOLERANCE),
    costUsdPerRequest:
      highest > 0 ? costUsdPerRequest({ gpus, usdPerGpuHour: cluster.usdPerGpuHour, requestsPerSecond: highest, judgements, judge }) : null,
  };
}
