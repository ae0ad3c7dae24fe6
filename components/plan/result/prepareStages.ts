import type { Tone } from "@/components/ui/Badge";
import { formatPercent, formatPercentSpan, formatRate, formatSeconds, formatSecondsSpan } from "@/components/ui/format";
import { gateText } from "@/solver/gates/gates";
import { judgeSourceText } from "@/solver/judging/judgeTime";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import { routerText, startText } from "@/solver/plan/directStart";
import type { ModelDeployment, Plan } from "@/solver/plan/plan";
import { asksJudge, gatePeersOf, readyJudgeOf } from "@/solver/plan/policySchema";

/** The mark of a less reliable figure, with the reason. */
export interface Doubt {
  readonly tone: Extract<Tone, "warn" | "hatched">;
  readonly word: string;
  readonly reason: string;
}

interface Latency {
  readonly value: string;
  /** Ends of its band in words; null where the plan gives none. */
  readonly band: string | null;
}

export interface StageRow {
  readonly model: string;
  readonly share: string;
  /** Ends of the share's band; null where the plan gives none, or every request reaches this stage. */
  readonly shareBand: string | null;
  readonly requests: string;
  readonly latencies: readonly Latency[];
  readonly utilisation: string;
  readonly nearSaturation: Doubt | null;
  readonly extrapolated: Doubt | null;
  readonly replicas: string;
}

type Stage = Plan["predictions"]["stages"][number];

/** The flag of stages that are close to instability; null where there are none. */
export function nearSaturation(stages: readonly Stage[]): Doubt | null {
  const near = stages.filter((stage) => stage.stability === "near-saturation");
  if (near.length === 0) return null;
  const standing = near.map(({ model, utilisation }) => `${model} at ${formatPercent(utilisation)} of its saturation rate`).join(", ");
  return { tone: "warn", word: "near saturation", reason: `${standing}: a little more traffic adds much latency.` };
}

/** The mark of figures that extrapolate beyond the fitted step times; null where none do. */
export function extrapolated(stages: readonly Stage[]): Doubt | null {
  const reasons = stages.flatMap(({ model, extrapolated: why = [] }) => (why.length === 0 ? [] : [`${model}: ${why.join("; ")}`]));
  return reasons.length === 0 ? null : { tone: "hatched", word: "extrapolated", reason: `${reasons.join(". ")}.` };
}

/** @param mixed whether the cluster has GPUs of several types. */
const replicasText = ({ replicas, gpu: own }: ModelDeployment, mixed: boolean): string =>
  replicas
    .map(
      ({ tp, pp, count, gpu = own }) =>
        `${count} × ${[`tp ${tp}`, pp > 1 ? `pp ${pp}` : "", mixed ? `on ${gpu}` : ""].filter(Boolean).join(" ")}`,
    )
    .join(", ");

/** Prepares the rows of each stage's promises. */
export function prepareStages({
  predictions,
  deployment,
  inputs,
}: Pick<Plan, "predictions" | "deployment" | "inputs">): readonly StageRow[] {
  const mixed = gpuTypes(inputs.cluster).length > 1;
  return predictions.stages.map((stage) => {
    const deployed = deployment.find((each) => each.model === stage.model);
    const latency = (figure: "p95Seconds" | "meanSeconds" | "ttftP95Seconds"): Latency => ({
      value: formatSeconds(stage[figure]),
      band: stage.bands === undefined ? null : formatSecondsSpan(stage.bands[figure]),
    });
    return {
      model: stage.model,
      share: formatPercent(stage.share),
      shareBand: stage.shareBand === undefined || stage.share === 1 ? null : formatPercentSpan(stage.shareBand),
      requests: formatRate(stage.requestsPerSecond),
      latencies: [latency("p95Seconds"), latency("meanSeconds"), latency("ttftP95Seconds")],
      utilisation: formatPercent(stage.utilisation),
      nearSaturation: nearSaturation([stage]),
      extrapolated: extrapolated([stage]),
      replicas: deployed === undefined ? "" : replicasText(deployed, mixed),
    };
  });
}

/**
 * Parts of a plan other than its stages: pinned models without requests, a judge that runs as an engine here, and requests that start
 * later.
 */
export function besideStages({ policy, deployment, inputs }: Pick<Plan, "policy" | "deployment" | "inputs">): readonly string[] {
  if (policy.kind !== "cascade") return [];
  const { stages, judge, directStart, cascadeRouting } = policy;
  const judging = judge.engine === undefined ? undefined : deployment.find((each) => each.model === judge.model);
  const source = inputs.judgeTime === undefined ? "" : ` (${judgeSourceText(inputs.judgeTime)})`;
  const mixed = gpuTypes(inputs.cluster).length > 1;
  const replicas = judging === undefined ? "" : ` on ${replicasText(judging, mixed)}`;
  const peers = gatePeersOf(policy);
  const comparing = deployment.filter(({ model }) => peers.includes(model));
  const idle = deployment.filter(
    ({ model }) => model !== judging?.model && !peers.includes(model) && stages.every((stage) => stage.model !== model),
  );
  return [
    ...idle.map(
      (own) => `${own.model} is pinned and keeps ${replicasText(own, mixed)} without requests: a pin keeps replicas but adds no stage.`,
    ),
    ...(policy.gates ?? []).flatMap((gate, stage) =>
      gate.kind === "judge" ? [] : [`Answers of ${stages[stage]?.model ?? "a stage"} are scored by ${gateText(gate)}.`],
    ),
    ...comparing.map((own) => `${own.model} answers for this comparison alone, on ${replicasText(own, mixed)}.`),
    // Neither a single model nor a stage with a threshold of 0 is judged, whatever judge is configured.
    ...(!asksJudge(policy)
      ? readyJudgeOf(policy) === null || judging === undefined
        ? []
        : [`${judge.model} judges nothing while the thresholds are 0, and keeps its own engine${replicas} for higher ones.`]
      : judge.engine === undefined
        ? [
            `${judge.model} judges outside the plan: predictions assume ${formatSeconds(judge.secondsPerCall)} a call${source}${judge.variation === undefined ? "" : ", varying about that"}.`,
          ]
        : [
            `${judge.model} judges on its own engine${replicas}: a call takes ${formatSeconds(judge.secondsPerCall)} on average, predicted for its load.`,
          ]),
    ...(directStart === undefined || cascadeRouting !== undefined
      ? []
      : [
          `Direct start: a request starts at the first stage with a router score of ${startText(directStart.below)} or more, by ${routerText(directStart.router)}.`,
        ]),
  ];
}
