import { costUsdPerRequest } from "../cascade/choose/allocate";
import type { Explorer } from "../cascade/explore/explorer";
import type { Objective } from "../plan/plan";
import type { RequestSample } from "../workload/workload";
import { busiestLoad, measure, routedBy } from "./measure";
import type { BaselineSituation } from "./situation";
import { cascadeText, gpusOf, type System } from "./system";

/** A system's figures on the planning prompts, for comparison with a plan made on the same. */
export interface SystemFigures {
  /** Models, shapes and thresholds in one line. */
  readonly cascade: string;
  /** The thresholds that route its requests; null for a router, whose requests reach one model only. */
  readonly routing: { readonly models: readonly string[]; readonly thresholds: readonly number[] } | null;
  readonly quality: number;
  /** null where its bound on quality is not known: routers have their own. */
  readonly qualityLow: number | null;
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
  const at = { models: explorer.input.sample.models, shapes: explorer.input.shapes, requestsPerSecond };
  const { quality, share } = routedBy(system, outcomes, planning);
  const gpus = gpusOf(system);
  const judged = system.routing.kind === "cascade" ? share : [];
  return {
    cascade: cascadeText(system),
    routing: cascadeRouting(system),
    quality,
    qualityLow: qualityLowOf(system, explorer),
    latencySeconds: busiestLoad(system, { outcomes, rows: planning }, at) < 1 ? latencyOf() : null,
    gpus,
    costUsdPerRequest: costUsdPerRequest({ gpus, usdPerGpuHour, requestsPerSecond, share: judged, judge }),
  };

  function latencyOf(): number | null {
    const traffic = { ...sample, outcomes, judgeSeconds: judge.secondsPerCall };
    const measured = measure(system, traffic, { ...at, quantile: explorer.input.quantile });
    const seconds = latency === "end-to-end" ? measured.percentileSeconds : measured.largestStagePercentileSeconds;
    return Number.isFinite(seconds) ? seconds : null;
  }
}

function cascadeRouting({ stages, routing }: System): SystemFigures["routing"] {
  return routing.kind === "router" ? null : { models: stages.map(({ model }) => model), thresholds: [...routing.thresholds] };
}

function qualityLowOf({ stages, routing }: System, explorer: Explorer): number | null {
  if (routing.kind === "router") return null;
  const { models } = explorer.input.sample;
  return explorer.outlook(
    stages.map(({ model }) => models.indexOf(model)),
    routing.thresholds,
  ).qualityLow;
}
