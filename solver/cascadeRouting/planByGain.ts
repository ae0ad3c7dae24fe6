import { promisedQuality } from "@/solver/cascade/choose/choose";
import { kindWithinSlack, slackApplies, slackLimit } from "@/solver/cascade/choose/slackChoice";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import { buildPlan } from "@/solver/cascade/plan/buildPlan";
import type { BuildPlanInput, BuiltPlan, NoPlan } from "@/solver/cascade/plan/planInput";
import type { StartRouter } from "@/solver/plan/directStart";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { boundText, secondsText } from "@/solver/wording/wording";
import { gainExplorers } from "./gainExplorer";

const kept = new WeakMap<Explorer, Map<string, Explorer | string>>();

/** A question about cascade routing. */
interface GainPlanInput extends BuildPlanInput {
  /** Explorers with the other gates that the plan may be compared with: the bound on quality holds for all at once. Left out: none. */
  readonly rivals?: readonly Explorer[];
}

/**
 * Plans cascade routing with the explorer's gates: the models, their trade-off λ and the deployment that are best on the objective, searched,
 * deployed and simulated whole as a cascade by thresholds is, so that the figures of the two can be compared. A slack counts from the fastest
 * plan; where that plan is itself over the latency that the slack allows, there is none.
 */
export function planByGain(input: GainPlanInput): BuiltPlan {
  const { objective } = input;
  const router = routerOf(input);
  if (router === null)
    return refused(
      "Cascade routing needs a router's score of every model before any has answered: train a predictor of confidence under Predictors, or allow a modelled router.",
    );
  const explorer = explorerFor(input, router);
  if (typeof explorer === "string") return refused(explorer);
  // Why constraints conflict is explained for cascades by thresholds.
  const { explorerUnder: _, rivals: _rivals, slackFromSeconds, ...asked } = input;
  const planned = (own: Objective): BuiltPlan => inItsWords(buildPlan({ ...asked, explorer, fixed: null, objective: own }), own);
  if (!slackApplies(objective)) return planned(objective);
  const { slack: _slack, ...without } = objective;
  const fastest = planned({ ...without, kind: "latency-under-quality" });
  if (fastest.outcome === "infeasible") return fastest;
  const seconds = secondsOf(fastest.draft, objective);
  const limit = slackLimit(seconds, { ...objective, ...(slackFromSeconds === undefined ? {} : { slackFromSeconds }) });
  if (seconds > limit) return beyond(limit, seconds, fastest.draft);
  const within = planned({ ...without, kind: kindWithinSlack(objective), latencyBudgetSeconds: limit });
  return within.outcome === "plan" && secondsOf(within.draft, objective) <= limit ? within : fastest;
}

/** The tables say that no thresholds reach a floor, and there are none here. */
function inItsWords(built: BuiltPlan, { qualityFloor }: Objective): BuiltPlan {
  if (built.outcome === "plan" || built.kind !== "quality-floor" || built.bestQuality === null) return built;
  const reason = `Cascade routing reaches a quality of ${boundText(built.bestQuality)} at most, under the floor of ${qualityFloor}.`;
  return { ...built, reason };
}

/** The router whose scores the workload has; null: none. */
function routerOf({ directStart, confidence }: BuildPlanInput): StartRouter | null {
  if (directStart !== undefined) return directStart;
  return confidence === undefined ? null : { predictor: confidence.artefact };
}

/** Once for each explorer, which has one set of rivals, and router: fitting and routing take about as long as a small search. */
function explorerFor({ explorer, workload, rivals = [] }: GainPlanInput, router: StartRouter): Explorer | string {
  const key = JSON.stringify(router);
  const known = kept.get(explorer)?.get(key);
  if (known !== undefined) return known;
  const made = gainExplorers([explorer, ...rivals.filter((rival) => rival !== explorer)], { workload, router });
  // A cancelled search leaves points out, and the next question would take it for a complete one.
  if (!explorer.input.cancelled())
    for (const [own, found] of made) kept.set(own, (kept.get(own) ?? new Map<string, Explorer | string>()).set(key, found));
  const found = made.get(explorer);
  if (found === undefined) throw new Error("the explorer is among those that were asked for");
  return found;
}

const secondsOf = ({ predictions }: PlanDraft, { latency }: Objective): number =>
  latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds;

function beyond(limitSeconds: number, bestLatencySeconds: number, { predictions, inputs }: PlanDraft): NoPlan {
  const { quality, qualityBand, costUsdPerRequest } = predictions;
  const figures = { quality, qualityLow: qualityBand.low, latencySeconds: bestLatencySeconds, costUsdPerRequest };
  return {
    outcome: "infeasible",
    kind: "latency-budget",
    reason: `The fastest cascade routing at this floor takes ${secondsText(bestLatencySeconds)}, over the ${secondsText(limitSeconds)} that the slack allows.`,
    bestQuality: promisedQuality(inputs.objective)(figures),
    bestLatencySeconds,
  };
}

const refused = (reason: string): NoPlan => ({
  outcome: "infeasible",
  kind: "malformed",
  reason,
  bestQuality: null,
  bestLatencySeconds: null,
});
