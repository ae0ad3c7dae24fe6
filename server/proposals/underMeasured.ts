import type { PlanInput } from "@/server/contracts/studio/promise";
import type { PredictedAsItRuns } from "@/server/planning/planner/asItRuns";
import type { Planner } from "@/server/planning/planner/planner";
import { workloadHash } from "@/server/workloads/workloadCodec";
import type { Plan } from "@/solver/plan/plan";
import type { InputGroup } from "@/solver/workload/driftCause";
import type { ObservedRequest } from "@/solver/workload/similarRows";
import type { Workload } from "@/solver/workload/workload";
import { changedOf, type UnderMeasured } from "./explainBroken";
import { planUnder, type ReplacedTraffic } from "./planUnder";
import { withObservedLengths, withObservedScores } from "./withObserved";

export interface MeasuredTraffic {
  readonly plan: Plan;
  readonly workload: Workload;
  readonly inputs: readonly PlanInput[];
  readonly requests: readonly ObservedRequest[];
}

/** One group of inputs with its replacement, or why there is none. */
interface Replaced {
  readonly inputs: Exclude<InputGroup, "all">;
  readonly replaced: ReplacedTraffic | { readonly because: string };
}

/**
 * Moved inputs with their measured values, each alone: arrivals, lengths, scores and the judge's time stay as planned while another is
 * replaced.
 */
function replacements({ plan, workload, inputs, requests }: MeasuredTraffic): readonly Replaced[] {
  const changed = changedOf(inputs);
  const now = (kind: PlanInput["kind"]): number | null => changed.find((input) => input.kind === kind)?.now ?? null;
  const [rate, judgeTime] = [now("rate"), now("judge-time")];
  const fixedJudge = plan.policy.kind === "cascade" && plan.policy.judge.engine === undefined;
  const found: Replaced[] = [];
  if (rate !== null && rate > 0) found.push({ inputs: "rate", replaced: { requestsPerSecond: rate } });
  if (changed.some(({ kind }) => kind === "tokens")) {
    const content = withObservedLengths(plan, workload, requests);
    const because = "too few lengths were seen";
    found.push({ inputs: "lengths", replaced: content === null ? { because } : workloadOf(content) });
  }
  if (changed.some(({ kind }) => kind === "score")) {
    const content = withObservedScores(plan, workload, requests);
    const because = "too few scores were seen";
    found.push({ inputs: "scores", replaced: content === null ? { because } : workloadOf(content) });
  }
  if (judgeTime !== null && fixedJudge) found.push({ inputs: "judge-time", replaced: { judgeSecondsPerCall: judgeTime } });
  return found;
}

/** All that can be replaced at once: of seen lengths the scores are set last, so that they are those that were seen. */
function together({ plan, requests }: MeasuredTraffic, groups: readonly Replaced[]): ReplacedTraffic {
  const traffic: ReplacedTraffic = Object.assign({}, ...groups.map(({ replaced }) => ("because" in replaced ? {} : replaced)));
  const of = (group: InputGroup): Workload | null => {
    const replaced = groups.find(({ inputs }) => inputs === group)?.replaced;
    return replaced === undefined || "because" in replaced ? null : (replaced.workload?.content ?? null);
  };
  const lengths = of("lengths");
  const both = lengths === null || of("scores") === null ? null : withObservedScores(plan, lengths, requests);
  return both === null ? traffic : { ...traffic, ...workloadOf(both) };
}

const workloadOf = (content: Workload): ReplacedTraffic => ({ workload: { id: workloadHash(content), content } });

/**
 * Simulates the plan with the measured values of each group of moved inputs, one at a time, and with all of them. If one of these cannot be
 * simulated and the planned plan cannot either, that is reported for the plan and for no input.
 */
export async function underMeasured(
  planner: Pick<Planner, "solve">,
  measured: MeasuredTraffic,
  signal: AbortSignal,
): Promise<UnderMeasured> {
  const groups = replacements(measured);
  const predict = (replaced: ReplacedTraffic) => planUnder(planner, measured, replaced, signal);
  const alone: UnderMeasured["alone"][number][] = [];
  for (const { inputs, replaced } of groups) {
    const predicted = "because" in replaced ? ({ kind: "not-evaluated", ...replaced } as const) : await predict(replaced);
    alone.push({ inputs, predicted });
  }
  const [only] = alone;
  if (only === undefined) return { alone, all: { kind: "predicted", predictions: measured.plan.predictions } };
  const all = alone.length === 1 ? only.predicted : await predict(together(measured, groups));
  if ([all, ...alone.map(({ predicted }) => predicted)].every(({ kind }) => kind === "predicted" || kind === "not-evaluated"))
    return { alone, all };
  const asPlanned = await predict({});
  if (asPlanned.kind === "predicted") return { alone, all };
  const unknown: PredictedAsItRuns = {
    kind: "not-evaluated",
    because: `the planner does not find the plan as it was planned to run either (${asPlanned.kind === "overloaded" ? "its replicas are overloaded" : asPlanned.because})`,
  };
  return { alone: alone.map(({ inputs }) => ({ inputs, predicted: unknown })), all: unknown };
}
