import { type CardCatalogue, cardOf } from "../hardware/catalogue";
import type { EngineProfile } from "../hardware/engineProfile";
import type { MilpEngine } from "../milp/engine";
import type { CascadePolicy, ClusterSpec, Objective, PlanDraft } from "../plan/plan";
import type { Workload } from "../workload/workload";
import { bothWays } from "./alternation";
import { alternationReport } from "./alternationReport";
import { alternativesTo } from "./alternatives";
import { approvedRanges } from "./approvedRanges";
import { best, choose, promisedQuality } from "./choose";
import type { Candidate, Exploration, Knobs } from "./exploration";
import type { Explorer } from "./explore";
import { deployFinalist, type Finalist } from "./finalist";
import { planPredictions } from "./planPredictions";
import { loadText, stageStability } from "./stageStability";
import { counted } from "./wording";

export interface BuildPlanInput {
  readonly explorer: Explorer;
  readonly workload: Workload;
  readonly workloadId: string;
  readonly cluster: ClusterSpec;
  readonly objective: Objective;
  readonly judge: CascadePolicy["judge"];
  /** The cards and the engine profile that the explorer's replicas were made from. */
  readonly cards: CardCatalogue;
  readonly profile: EngineProfile;
  /** A routing set by hand, as indices into the exploration's models; null lets the planner choose. */
  readonly fixed: { readonly stages: readonly number[]; readonly thresholds: readonly number[] } | null;
  readonly engine: MilpEngine;
  /** Seconds since planning began, for the solver's report. */
  readonly elapsedSeconds: () => number;
}

export type BuiltPlan =
  | { readonly outcome: "plan"; readonly draft: PlanDraft }
  | {
      readonly outcome: "infeasible";
      readonly reason: string;
      readonly bestQuality: number | null;
      readonly bestLatencySeconds: number | null;
    };

/** Finalists deployed and simulated whole, at most: each costs about as much as the rest of a small plan. */
const MAX_FINALISTS = 4;

/** A cascade whose tables promise no more than this many times the best verified latency may be the better one: tables err by some per cent. */
const NEAR_TIE = 1.05;

/**
 * From an exploration to a plan: searches directly, alternates beside it as the source does, chooses by the tables from what either
 * looked at, deploys the choice and simulates it whole, and goes on to the next best while one promises more than the best
 * verified (tables are approximate; a plan is not). What is predicted is what the whole simulation showed.
 */
export function buildPlan(input: BuildPlanInput): BuiltPlan {
  const { explorer, objective, fixed } = input;
  explorer.search();
  if (fixed === null) explorer.focus({ floor: objective.qualityFloor, budgetSeconds: objective.latencyBudgetSeconds });
  // The source alternates for latency and for quality; it has no problem of least cost.
  const ways = fixed === null && objective.kind !== "cost-under-both" ? bothWays(explorer, objective) : null;
  const index = fixed === null ? null : explorer.add(fixed.stages, fixed.thresholds);
  const exploration = explorer.exploration();
  // A routing set by hand is planned as it is; the floor and budget it may miss are told, not enforced.
  const knobs: Knobs = index === null ? objective : { ...objective, qualityFloor: null, latencyBudgetSeconds: null };
  const choice = choose(exploration, knobs);
  const pool = index === null ? choice.candidates : choice.candidates.filter((candidate) => candidate.routing === index);
  const { finalist, verified, unstable } = verifiedBest(input, { exploration, pool, knobs });
  if (finalist === null) {
    const { infeasible } = choice;
    if (infeasible !== null) return { outcome: "infeasible", ...infeasible };
    return { outcome: "infeasible", reason: unstable ?? noneVerified(input, pool), bestQuality: null, bestLatencySeconds: null };
  }
  const alternatives = alternativesTo({ exploration, candidates: choice.candidates, knobs: objective, finalist, verified });
  const why = [...(choice.binds === null || index !== null ? [] : [choice.binds]), ...alternatives.why];
  return {
    outcome: "plan",
    draft: {
      apiVersion: "weir/v1",
      kind: "Plan",
      metadata: { name: planName(input, finalist) },
      deployment: finalist.deployment.map((stage) => ({
        model: stage.model,
        precision: cardOf(input.cards.models, stage.model)?.precision ?? "bf16",
        gpu: input.cluster.gpu,
        gpus: stage.gpus,
        replicas: stage.groups,
      })),
      policy: policyOf(input, finalist.routing, finalist),
      inputs: planInputs(input, finalist),
      predictions: planPredictions(input, finalist),
      solver: {
        ...finalist.proof,
        seconds: input.elapsedSeconds(),
        evaluatedThresholds: exploration.routings.length,
        replicaSimulations: explorer.tables.simulations(),
        why,
        ...(ways === null ? {} : { alternation: alternationReport(explorer, ways, { routing: finalist.routing, knobs: objective }) }),
        alternatives: alternatives.list,
      },
    },
  };
}

interface Contest {
  readonly exploration: Exploration;
  readonly pool: readonly Candidate[];
  readonly knobs: Knobs;
}

interface Contested {
  readonly finalist: Finalist | null;
  /** All that were simulated whole, the finalist among them. */
  readonly verified: readonly Finalist[];
  /** Why the last that was refused as unstable was; null where none was. */
  readonly unstable: string | null;
}

/**
 * The best candidate once verified. Each verification corrects the tables of its whole cascade by the ratio found; the
 * search ends when the best by corrected tables is one that was verified, and no other cascade that was not comes within the
 * tables' error of it.
 */
function verifiedBest(input: BuildPlanInput, { exploration, pool, knobs }: Contest): Contested {
  const quality = promisedQuality(knobs);
  const floor = knobs.qualityFloor ?? 0;
  const budget = knobs.latencyBudgetSeconds ?? Number.POSITIVE_INFINITY;
  const cascadeOf = ({ routing }: Candidate): string => (exploration.routings[routing]?.stages ?? []).join("-");
  const corrections = new Map<string, number>();
  const seen = new Map<number, Finalist | null>();
  let unstable: string | null = null;
  const verified = (): Finalist[] => [...seen.values()].flatMap((one) => one ?? []);
  for (let attempt = 0; attempt <= MAX_FINALISTS; attempt += 1) {
    const last = attempt === MAX_FINALISTS;
    const corrected = pool.flatMap((candidate) => {
      const known = seen.get(candidate.routing);
      if (known === null || (last && known === undefined)) return [];
      const latencySeconds = known?.verifiedSeconds ?? candidate.latencySeconds * (corrections.get(cascadeOf(candidate)) ?? 1);
      const meets = quality(candidate) >= floor && latencySeconds <= budget && latencySeconds < Number.POSITIVE_INFINITY;
      return meets ? [{ ...candidate, latencySeconds }] : [];
    });
    const leader = best(corrected, knobs.kind, quality);
    if (leader === null) break;
    const known = seen.get(leader.routing);
    const rival = known === undefined ? null : rivalOf(leader);
    if (known && rival === null) return { finalist: known, verified: verified(), unstable };
    const next = rival ?? leader;
    const done = seen.size;
    const progress = (phase: "deploying" | "simulating") => input.explorer.input.progress?.({ phase, done, of: null });
    const deployed = deployFinalist({ ...input, progress, policyOf: (routing) => policyOf(input, routing, null) }, next.routing);
    const overloaded = deployed?.deployment.find((stage) => stageStability(stage, input.profile) === "unstable");
    if (overloaded !== undefined)
      unstable = `Unstable: ${loadText(overloaded, input.profile)}, so its queue may grow without end. Add GPUs or lower the rate.`;
    const finalist = overloaded === undefined ? deployed : null;
    seen.set(next.routing, finalist);
    const table = pool.find((candidate) => candidate.routing === next.routing)?.latencySeconds ?? Number.NaN;
    if (finalist !== null) corrections.set(cascadeOf(next), finalist.verifiedSeconds / table);

    function rivalOf({ latencySeconds }: Candidate): Candidate | null {
      if (knobs.kind !== "latency-under-quality") return null;
      const unknown = corrected.filter((candidate) => !seen.has(candidate.routing) && !corrections.has(cascadeOf(candidate)));
      const closest = best(unknown, knobs.kind, quality);
      return closest !== null && closest.latencySeconds <= NEAR_TIE * latencySeconds ? closest : null;
    }
  }
  return { finalist: null, verified: verified(), unstable };
}

function noneVerified({ objective, fixed }: BuildPlanInput, pool: readonly Candidate[]): string {
  const budget = objective.latencyBudgetSeconds;
  if (fixed === null && budget !== null)
    return `No plan kept the latency budget of ${budget} s when it was simulated whole, though the tables promised it: allow a little more.`;
  const gpus = counted(objective.maxGpus, "GPU");
  if (pool.every(({ latencySeconds }) => latencySeconds === Number.POSITIVE_INFINITY))
    return `Unstable: with these thresholds ${gpus} do not keep up with the requests each stage gets. Add GPUs, lower the rate or turn the thresholds.`;
  return `The chosen routing does not keep up on ${gpus}, or its replicas do not fit the nodes: add GPUs or lower the rate.`;
}

/** The policy of a routing. Without a deployment the approved ranges are the thresholds themselves, as a simulation needs no others. */
function policyOf(input: BuildPlanInput, routing: number, finalist: Finalist | null): CascadePolicy {
  const { explorer, judge } = input;
  const { stages, thresholds, startBelow } = explorer.routing(routing);
  const { directStart } = explorer.input;
  const ranges =
    finalist === null
      ? thresholds.map((threshold) => ({ min: threshold, max: threshold }))
      : approvedRanges(explorer, { ...finalist, objective: input.objective, profile: input.profile });
  return {
    kind: "cascade",
    stages: stages.map((model) => ({ model: explorer.input.sample.models[model] ?? "" })),
    thresholds: [...thresholds],
    judge,
    ...(directStart === undefined || startBelow === 0
      ? {}
      : { directStart: { below: startBelow, router: { kind: "modelled", ...directStart } } }),
    order: { kind: "fcfs" },
    place: { kind: "least-load" },
    approvedRanges: { thresholds: ranges },
  };
}

function planName({ cluster }: BuildPlanInput, finalist: Finalist): string {
  const gpus = finalist.deployment.reduce((sum, stage) => sum + stage.gpus, 0);
  return `${finalist.deployment.map((stage) => stage.model).join(" > ")} on ${gpus} x ${cluster.gpu}`;
}

function planInputs(input: BuildPlanInput, finalist: Finalist): PlanDraft["inputs"] {
  const { explorer, workload, workloadId, cluster, profile, objective } = input;
  const { judge } = workload;
  return {
    workload: {
      id: workloadId,
      name: workload.name,
      requestsPerSecond: explorer.input.requestsPerSecond,
      planningPrompts: explorer.input.sample.prompts,
      sampleRequests: finalist.requests,
      seed: workload.seed,
      judge: { kind: judge.kind, auc: judge.kind === "modelled" ? judge.auc : null },
    },
    cluster,
    models: [...explorer.input.sample.models],
    engineProfile: profile,
    objective,
  };
}
