import type { PlanInput } from "@/server/contracts/promise";
import type { Planner } from "@/server/planning/planner";
import { workloadHash } from "@/server/planning/workloadCodec";
import type { Plan } from "@/solver/plan/plan";
import { RATE } from "@/solver/workload/drift";
import { type SeenRequest, seenWorkload } from "@/solver/workload/seenWorkload";
import type { Workload } from "@/solver/workload/workload";
import { changedOf, type UnderMeasured } from "./explainBroken";
import { judgeTimeName } from "./planInputs";
import { planUnder, type ReplacedTraffic } from "./planUnder";

export interface MeasuredTraffic {
  readonly plan: Plan;
  readonly workload: Workload;
  readonly inputs: readonly PlanInput[];
  readonly requests: readonly SeenRequest[];
}

interface Replaced {
  readonly inputs: string;
  readonly replaced: ReplacedTraffic;
}

/** Inputs that moved and that the planner can take in place of the planned ones, together where they are seen together. */
function replaceable({ plan, workload, inputs, requests }: MeasuredTraffic): readonly Replaced[] {
  const changed = changedOf(inputs);
  const now = (name: string): number | null => changed.find((input) => input.name === name)?.now ?? null;
  const [rate, judgeTime] = [now(RATE), now(judgeTimeName)];
  const lengths = changed.some(({ kind }) => kind === "tokens");
  const scores = changed.some(({ kind }) => kind === "score");
  const what = [...(lengths ? ["lengths"] : []), ...(scores ? ["scores"] : [])].join(" and ");
  const seen = what === "" ? null : seenTraffic(workload, requests, scores);
  const fixedJudge = plan.policy.kind === "cascade" && plan.policy.judge.engine === undefined;
  const found: Replaced[] = [];
  if (rate !== null && rate > 0) found.push({ inputs: "the rate", replaced: { requestsPerSecond: rate } });
  if (seen !== null) found.push({ inputs: `the ${what}`, replaced: { workload: seen } });
  if (judgeTime !== null && fixedJudge) found.push({ inputs: "the time of a judgement", replaced: { judgeSecondsPerCall: judgeTime } });
  return found;
}

/** Requests that a workload is made of here: on the event loop, some tens of milliseconds. */
const MOST_REQUESTS = 1000;

/** Lengths as seen, and scores where they moved; arrivals as planned, since one thing is replaced at a time. null: too little was seen. */
function seenTraffic(workload: Workload, requests: readonly SeenRequest[], scores: boolean): Required<ReplacedTraffic>["workload"] | null {
  const newest = requests.slice(-MOST_REQUESTS);
  const shown = scores
    ? newest
    : newest.map((request) => ({ ...request, visits: request.visits.map((visit) => ({ ...visit, judged: null })) }));
  const made = seenWorkload(workload, shown, workload.name);
  if (made === null) return null;
  const content = { ...made, arrivalSeconds: workload.arrivalSeconds };
  return { id: workloadHash(content), content };
}

/** Simulates the plan with each input that moved as it is measured, one at a time, and with all of them. */
export async function underMeasured(
  planner: Pick<Planner, "solve">,
  measured: MeasuredTraffic,
  signal: AbortSignal,
): Promise<UnderMeasured> {
  const groups = replaceable(measured);
  const predict = (replaced: ReplacedTraffic) => planUnder(planner, measured, replaced, signal);
  const alone: UnderMeasured["alone"][number][] = [];
  for (const { inputs, replaced } of groups) alone.push({ inputs, predictions: await predict(replaced) });
  const [only] = alone;
  if (only === undefined) return { alone, all: measured.plan.predictions };
  if (alone.length === 1) return { alone, all: only.predictions };
  return { alone, all: await predict(Object.assign({}, ...groups.map(({ replaced }) => replaced))) };
}
