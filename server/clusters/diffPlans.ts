import type { DiffLine } from "@/server/contracts/studio";
import type { ModelDeployment, Plan } from "@/solver/plan/plan";
import { placeText, targetEngines } from "./targetEngines";

/** Replicas of one model in words: `2 x tp 4, 1 x tp 8 on 16 h100-sxm`. */
function deploymentText({ replicas, gpus, gpu }: ModelDeployment): string {
  const shapes = replicas.map((group) => `${group.count} x tp ${group.tp}${group.pp > 1 ? ` pp ${group.pp}` : ""}`);
  return `${shapes.join(", ")} on ${gpus} ${gpu}`;
}

/** A line for a value that two plans may share. */
function valueLine(subject: string, before: string | null, after: string): DiffLine {
  if (before === null) return { sign: "+", of: "plan", subject, text: after };
  return before === after
    ? { sign: "=", of: "plan", subject, text: after }
    : { sign: "~", of: "plan", subject, text: `${before} -> ${after}` };
}

function engineLines(from: Plan | null, to: Plan): readonly DiffLine[] {
  const before = from === null ? [] : targetEngines(from);
  const after = targetEngines(to);
  const kept = after.filter((engine) => before.some((one) => one.id === engine.id));
  const added = after.filter((engine) => !kept.includes(engine));
  const removed = before.filter((engine) => !after.some((one) => one.id === engine.id));
  return [
    ...added.map((engine) => ({ sign: "+" as const, of: "engine" as const, subject: engine.id, text: `start on ${placeText(engine)}` })),
    ...removed.map((engine) => ({ sign: "-" as const, of: "engine" as const, subject: engine.id, text: `stop on ${placeText(engine)}` })),
    ...kept.map((engine) => ({ sign: "=" as const, of: "engine" as const, subject: engine.id, text: `stays on ${placeText(engine)}` })),
  ];
}

function deploymentLines(from: Plan | null, to: Plan): readonly DiffLine[] {
  const gone = (from?.deployment ?? []).filter((one) => !to.deployment.some((other) => other.model === one.model));
  return [
    ...to.deployment.map((deployment) => {
      const earlier = from?.deployment.find((one) => one.model === deployment.model);
      return valueLine(deployment.model, earlier === undefined ? null : deploymentText(earlier), deploymentText(deployment));
    }),
    ...gone.map((deployment) => ({ sign: "-" as const, of: "plan" as const, subject: deployment.model, text: deploymentText(deployment) })),
  ];
}

const cascadeText = (plan: Plan): string => plan.policy.stages.map((stage) => stage.model).join(" then ");

function policyLines(from: Plan | null, to: Plan): readonly DiffLine[] {
  const judge = (plan: Plan): string => `${plan.policy.judge.model}, ${Number(plan.policy.judge.secondsPerCall.toPrecision(3))} s a call`;
  const earlierThreshold = (model: string): string | null => {
    const stage = from?.policy.stages.findIndex((one) => one.model === model) ?? -1;
    const threshold = from?.policy.thresholds[stage];
    return threshold === undefined ? null : `accept at ${threshold} or more`;
  };
  return [
    valueLine("cascade", from === null ? null : cascadeText(from), cascadeText(to)),
    ...to.policy.thresholds.map((threshold, stage) => {
      const model = to.policy.stages[stage]?.model ?? `stage ${stage + 1}`;
      return valueLine(`threshold after ${model}`, earlierThreshold(model), `accept at ${threshold} or more`);
    }),
    valueLine("judge", from === null ? null : judge(from), judge(to)),
    valueLine("placement", from?.policy.place.kind ?? null, to.policy.place.kind),
  ];
}

/** What changes between two plans, in words: models, then routing, then single engines. `from` null: nothing runs. */
export const diffPlans = (from: Plan | null, to: Plan): readonly DiffLine[] => [
  ...deploymentLines(from, to),
  ...policyLines(from, to),
  ...engineLines(from, to),
];
