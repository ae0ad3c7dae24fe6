import type { DiffLine } from "@/server/contracts/studio";
import type { ModelDeployment, Plan } from "@/solver/plan/plan";
import { formatDelta, formatScore, formatSeconds } from "../ui/format";

function shapes(deployment: ModelDeployment): string {
  return deployment.replicas.map((group) => `${group.count} × tp ${group.tp}${group.pp > 1 ? ` pp ${group.pp}` : ""}`).join(" + ");
}

function compare(subject: string, before: string | null, after: string | null): DiffLine {
  if (before === null) return { sign: "+", subject, text: after ?? "" };
  if (after === null) return { sign: "-", subject, text: `was ${before}` };
  return before === after ? { sign: "=", subject, text: after } : { sign: "~", subject, text: `${before} → ${after}` };
}

function thresholdsOf(plan: Plan): ReadonlyMap<string, string> {
  const { stages, thresholds } = plan.policy;
  return new Map(stages.slice(0, -1).map((stage, index) => [stage.model, String(thresholds[index] ?? "")]));
}

/** A predicted figure with its change behind it, unless it reads the same. */
function comparePrediction(subject: string, texts: readonly [before: string, after: string], change: string): DiffLine {
  const [before, after] = texts;
  const line = compare(subject, before, after);
  return line.sign === "=" ? line : { ...line, text: `${line.text} (${change})` };
}

/**
 * How one plan differs from another in what it deploys, how it routes and what it promises. A document comparison for a
 * plan that is not kept yet; what applying it would do step by step is the server's to say.
 */
export function diffPlans(before: Plan, after: Plan): readonly DiffLine[] {
  const models = [...new Set([...after.deployment, ...before.deployment].map((each) => each.model))];
  const shapeOf = (plan: Plan, model: string) => {
    const found = plan.deployment.find((each) => each.model === model);
    return found === undefined ? null : `${shapes(found)} on ${found.gpus} ${found.gpus === 1 ? "GPU" : "GPUs"}`;
  };
  const thresholdsBefore = thresholdsOf(before);
  const thresholdsAfter = thresholdsOf(after);
  const gates = [...new Set([...thresholdsAfter.keys(), ...thresholdsBefore.keys()])];
  const was = before.predictions;
  const is = after.predictions;
  return [
    ...models.map((model) => compare(model, shapeOf(before, model), shapeOf(after, model))),
    ...gates.map((model) => compare(`threshold of ${model}`, thresholdsBefore.get(model) ?? null, thresholdsAfter.get(model) ?? null)),
    compare(
      "cascade",
      before.policy.stages.map((stage) => stage.model).join(" → "),
      after.policy.stages.map((stage) => stage.model).join(" → "),
    ),
    comparePrediction("predicted quality", [formatScore(was.quality), formatScore(is.quality)], formatDelta(is.quality - was.quality, 1)),
    comparePrediction(
      "predicted p95",
      [formatSeconds(was.p95Seconds), formatSeconds(is.p95Seconds)],
      `${formatDelta(is.p95Seconds - was.p95Seconds, 2)} s`,
    ),
  ];
}
