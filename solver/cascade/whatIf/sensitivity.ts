import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { StartBelow } from "@/solver/plan/directStart";
import { choose } from "../choose/choose";
import type { Knobs } from "../explore/exploration";
import { createExplorer } from "../explore/explore";
import type { ExploreInput, Explorer } from "../explore/explorer";
import { addReached, latencyOnGpus } from "../explore/fixedDeployment";

/** An assumption of a plan that turns out to be wrong. */
export type Perturbation =
  | { readonly kind: "rate"; readonly factor: number }
  /**
   * Every judged score times `factor`, with normal noise of `noisePoints` added. Labels stay: the value of an answer does not
   * change with the judge. (The source has one score for both, so that a weaker judge lowers its quality as well.)
   */
  | { readonly kind: "judge"; readonly factor: number; readonly noisePoints: number };

/** A cascade with its deployment. */
export interface PlannedCascade {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
  /** Router scores from which requests start at a stage; 0: all start at the first. */
  readonly startBelow: StartBelow;
  /** GPUs per stage, and of a judge's engine and peers after them. */
  readonly gpus: readonly number[];
}

/** A cascade with its results under one perturbation. */
export interface PerturbedCascade extends PlannedCascade {
  /** Infinity: the load is not sustained. */
  readonly latencySeconds: number;
  readonly quality: number;
  readonly qualityLow: number;
  /** Share of requests that reach each stage. */
  readonly share: readonly number[];
}

export interface Sensitivity {
  readonly perturbation: Perturbation;
  /** The original plan in the new situation; stages that no request reaches any more are left out. */
  readonly kept: PerturbedCascade;
  /** The new choice; null when nothing meets floor and budget. */
  readonly replanned: PerturbedCascade | null;
  readonly routingChanges: boolean;
  readonly deploymentChanges: boolean;
  /** Whether the kept plan still meets the floor and the budget. */
  readonly keeps: boolean;
  /**
   * Kept plan minus new plan: seconds that keeping the plan costs, and its additional points of promised quality. Null when there is no
   * new plan. A plan that misses its floor may show a gain of seconds: read it with `keeps`.
   */
  readonly regret: { readonly latencySeconds: number; readonly quality: number } | null;
}

/**
 * The source's question (appendix K) and the uncertainty of every forecast: the arrival rate off by a fifth, and a weaker judge, whose
 * scores are 9 % lower (GPT-4o-mini 9.4 %, Llama-3.1-70B 8.6 %) and noisier. The noise is that between two
 * GPT-4 judges on the same WildBench answers: a standard deviation of 11 points of 100.
 */
export const PERTURBATIONS: readonly Perturbation[] = [
  { kind: "rate", factor: 0.8 },
  { kind: "rate", factor: 1.2 },
  { kind: "judge", factor: 0.91, noisePoints: 11 },
];

/**
 * The robustness of a plan to one perturbation: it is evaluated unchanged in the new situation, and a new plan is made by the same tables
 * and search. Takes as long as a plan. GPUs are compared by stage; the parallelism within them is the best in either situation.
 */
export function sensitivityTo(perturbation: Perturbation, input: ExploreInput, asked: { knobs: Knobs; plan: PlannedCascade }): Sensitivity {
  const { knobs, plan } = asked;
  const explorer = createExplorer(perturbed(input, perturbation));
  explorer.search();
  explorer.focus({ floor: knobs.qualityFloor, budgetSeconds: knobs.latencyBudgetSeconds });
  const { chosen } = choose(explorer.exploration(), knobs);
  const kept = cascadeOn(explorer, addReached(explorer, plan.stages, plan.thresholds, plan.startBelow), { plan, knobs });
  const replanned =
    chosen === null
      ? null
      : cascadeOn(explorer, chosen.routing, { plan: { ...explorer.routing(chosen.routing), gpus: chosen.gpus }, knobs });
  const quality = (one: PerturbedCascade): number => (knobs.qualityConfidence === null ? one.quality : one.qualityLow);
  const same = (field: "stages" | "thresholds" | "gpus"): boolean => replanned !== null && replanned[field].join() === plan[field].join();
  return {
    perturbation,
    kept,
    replanned,
    routingChanges: !(same("stages") && same("thresholds") && String(replanned?.startBelow) === String(plan.startBelow)),
    deploymentChanges: !(same("stages") && same("gpus")),
    keeps:
      quality(kept) >= (knobs.qualityFloor ?? 0) &&
      kept.latencySeconds < Number.POSITIVE_INFINITY &&
      kept.latencySeconds <= (knobs.latencyBudgetSeconds ?? Number.MAX_VALUE),
    regret:
      replanned === null
        ? null
        : { latencySeconds: kept.latencySeconds - replanned.latencySeconds, quality: quality(kept) - quality(replanned) },
  };
}

/** @param plan with the GPUs of each stage; the routing has these stages, or those of them that requests reach. */
function cascadeOn(
  explorer: Explorer,
  index: number,
  { plan, knobs }: { readonly plan: Pick<PlannedCascade, "stages" | "gpus">; readonly knobs: Knobs },
): PerturbedCascade {
  const routing = explorer.routing(index);
  const { stages, thresholds, startBelow, routed, qualityLow } = routing;
  const beside = routing.tables.length > stages.length;
  const own = [
    ...stages.map((stage) => plan.gpus[plan.stages.indexOf(stage)] ?? 0),
    ...(beside ? plan.gpus.slice(plan.stages.length) : []),
  ];
  return {
    stages,
    thresholds,
    startBelow,
    gpus: own,
    latencySeconds: latencyOnGpus(routing, own, knobs.latency),
    quality: routed.quality,
    qualityLow,
    share: routed.share,
  };
}

function perturbed(input: ExploreInput, perturbation: Perturbation): ExploreInput {
  if (perturbation.kind === "rate") return { ...input, requestsPerSecond: perturbation.factor * input.requestsPerSecond };
  const { factor, noisePoints } = perturbation;
  const random = seededRandom(mixSeed(input.seed, "weaker judge"));
  const read = (score: number): number => Math.min(100, Math.max(0, Math.round(factor * score + noisePoints * random.normal())));
  const { sample } = input;
  return { ...input, sample: { ...sample, judged: sample.judged.map((own) => own.map(read)) } };
}
