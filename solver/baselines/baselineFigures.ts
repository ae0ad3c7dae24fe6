import { costUsdPerRequest } from "../cascade/choose/allocate";
import type { Explorer } from "../cascade/explore/explorer";
import { type StartBelow, shortestStart } from "../plan/directStart";
import type { Objective } from "../plan/plan";
import type { RequestSample } from "../workload/workload";
import type { DeployedModels } from "./betterBaseline";
import { busiestLoad, measure, routedBy } from "./measure";
import { type BaselineSituation, choiceOf } from "./situation";
import { cascadeText, gpusOf, judgementsOf, type System } from "./system";

/** A system's figures on the planning prompts, for comparison with a plan made on the same. */
export interface SystemFigures {
  /** Models, shapes and thresholds in one line. */
  readonly cascade: string;
  /** The replicas of its stages. */
  readonly deployed: DeployedModels;
  /** The cascade that routes its requests; null for a modelled router, which no plan can have. */
  readonly routing: { readonly models: readonly string[]; readonly thresholds: readonly number[]; readonly startBelow?: StartBelow } | null;
  readonly quality: number;
  /** A cascade's by the planner's own bound, a router's by one over its own settings. */
  readonly qualityLow: number;
  /** By the objective, simulated whole; null where the load is not sustained. */
  readonly latencySeconds: number | null;
  readonly gpus: number;
  readonly costUsdPerRequest: number;
}

interface Beside {
  readonly situation: Pick<BaselineSituation, "explorer" | "outcomes" | "planning">;
  /** The requests that the plan was simulated with. */
  readonly sample: RequestSample;
  readonly latency: Objective["latency"];
}

/** A system simulated whole under the requests that a plan was simulated with, at the explorer's rate and percentile. */
export function figuresOf(system: System, { situation, sample, latency }: Beside): SystemFigures {
  const { explorer, outcomes, planning } = situation;
  const { requestsPerSecond, usdPerGpuHour, judge } = explorer.input;
  const at = { ...choiceOf(explorer), requestsPerSecond };
  const routed = routedBy(system, outcomes, planning);
  const gpus = gpusOf(system);
  const judgements = judgementsOf(system, routed);
  return {
    cascade: cascadeText(system),
    deployed: system.stages.map(({ model, replicas }) => ({ model, replicas })),
    routing: cascadeRouting(system),
    quality: routed.quality,
    qualityLow: qualityLowOf(system, explorer),
    latencySeconds: busiestLoad(system, { outcomes, rows: planning }, at) < 1 ? latencyOf() : null,
    gpus,
    costUsdPerRequest: costUsdPerRequest({ gpus, usdPerGpuHour, requestsPerSecond, judgements, judge }),
  };

  function latencyOf(): number | null {
    const traffic = { ...sample, outcomes, judgeSeconds: judge.secondsPerCall };
    const measured = measure(system, traffic, { ...at, quantile: explorer.input.quantile });
    const seconds = latency === "end-to-end" ? measured.percentileSeconds : measured.largestStagePercentileSeconds;
    return Number.isFinite(seconds) ? seconds : null;
  }
}

/** A trained router as a cascade: its scores as those to start at, and thresholds of 0, so that no answer is judged. */
function cascadeRouting({ stages, routing }: System): SystemFigures["routing"] {
  const models = stages.map(({ model }) => model);
  if (routing.kind === "cascade") return { models, thresholds: [...routing.thresholds] };
  if (!routing.trained) return null;
  return { models, thresholds: routing.thresholds.map(() => 0), startBelow: shortestStart(routing.thresholds) };
}

function qualityLowOf({ stages, routing }: System, explorer: Explorer): number {
  if (routing.kind === "router") return routing.qualityLow;
  const { models } = explorer.input.sample;
  return explorer.outlook(
    stages.map(({ model }) => models.indexOf(model)),
    routing.thresholds,
  ).qualityLow;
}
