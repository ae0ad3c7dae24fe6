import type { LiveFrame, StageFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";
import { type Series, sumKnown } from "../charts/prepareSeries";
import type { ModelIdentity } from "../ui/modelIdentity";

/** A sample later than this many intervals is stale and said to be so. */
export const STALE_AFTER_MS = 2_500;

/** A stage of the plan with what is measured of it now. Either half may be missing. */
export interface StageRow {
  readonly model: string;
  readonly identity: ModelIdentity | undefined;
  readonly measured: StageFrame | null;
  readonly predictedP95Seconds: number | null;
  readonly predictedShare: number | null;
}

/** Models with a place on the page: the plan's by stage, then all others that were served while the frames were taken. */
export function servedModels(frames: readonly LiveFrame[], plan: Plan | null): readonly string[] {
  const models = new Set(plan === null ? [] : modelsOf(plan.policy));
  for (const frame of frames.toReversed()) for (const engine of frame.engines) models.add(engine.model);
  return [...models];
}

/** Stages in the order requests meet them: the plan's, or, without a plan, those the gateway reports. */
export function stageRows(frame: LiveFrame, plan: Plan | null, identities: ReadonlyMap<string, ModelIdentity>): readonly StageRow[] {
  const models = plan === null ? frame.gateway.stages.map((stage) => stage.model) : modelsOf(plan.policy);
  return models.map((model) => {
    const predicted = plan?.predictions.stages.find((stage) => stage.model === model);
    return {
      model,
      identity: identities.get(model),
      measured: frame.gateway.stages.find((stage) => stage.model === model) ?? null,
      predictedP95Seconds: predicted?.p95Seconds ?? null,
      predictedShare: predicted?.share ?? null,
    };
  });
}

export const rateSeries: readonly Series[] = [
  { key: "requests", name: "requests", hue: "var(--accent)", dashed: false, read: (frame) => frame.gateway.requestsPerSecond },
  { key: "errors", name: "errors", hue: "var(--bad)", dashed: true, read: (frame) => frame.gateway.errorsPerSecond },
];

export const latencySeries: readonly Series[] = [
  { key: "p95", name: "measured p95", hue: "var(--ink)", dashed: false, read: (frame) => frame.measured.p95Seconds },
  { key: "p50", name: "measured p50", hue: "var(--ink-3)", dashed: true, read: (frame) => frame.measured.p50Seconds },
];

/** Per model: requests running in its engines, solid, and waiting for them (in engines and gateway), dashed. */
export function queueSeries(models: readonly string[], identities: ReadonlyMap<string, ModelIdentity>): readonly Series[] {
  return models.flatMap((model) => {
    const hue = identities.get(model)?.hue ?? "var(--ink-2)";
    const of = (frame: LiveFrame) => frame.engines.filter((engine) => engine.model === model);
    return [
      {
        key: `${model} running`,
        name: `${model} running`,
        hue,
        dashed: false,
        read: (frame: LiveFrame) => sumKnown(of(frame).map((engine) => engine.running)),
      },
      {
        key: `${model} waiting`,
        name: `${model} waiting`,
        hue,
        dashed: true,
        read: (frame: LiveFrame) =>
          sumKnown([
            ...of(frame).map((engine) => engine.waiting),
            frame.gateway.stages.find((stage) => stage.model === model)?.queued ?? null,
          ]),
      },
    ];
  });
}
