import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { MirrorSample } from "@/server/contracts/gateway/gatewayControls";
import type { TrafficWindow } from "@/solver/numeric/drift";
import type { ObservedRequest } from "@/solver/workload/similarRows";
import type { GateScores, ScoredVisit } from "./gateScores";
import { inputTokensName, mirroredScoreName, outputTokensName, scoreName } from "./plannedTraffic";

/** What a gateway tells of one request, with the scores of the plan's gates. */
export interface ScoredRequest extends ObservedRequest {
  readonly visits: readonly ScoredVisit[];
}

/** What the gateway's records tell of requests, in the order of the records. `timeScale`: engine seconds in a wall second. */
export function observedRequests(decisions: readonly Decision[], timeScale: number, scores: GateScores): readonly ScoredRequest[] {
  return decisions.map(({ finishedAtMs, endToEndSeconds, stages }) => {
    const answered = stages.filter(({ verdict }) => verdict !== "failed");
    return {
      arrivalSeconds: (finishedAtMs / 1000) * timeScale - endToEndSeconds,
      inputTokens: answered.find(({ inputTokens }) => inputTokens !== null)?.inputTokens ?? null,
      visits: answered.map((stage) => scores.read(stage)),
    };
  });
}

/** Requests that the mirror sent through all models. */
export const mirroredRequests = (samples: readonly MirrorSample[], timeScale: number, scores: GateScores): readonly ScoredRequest[] =>
  samples.map(({ atMs, answers }) => ({
    arrivalSeconds: (atMs / 1000) * timeScale,
    inputTokens: answers.find(({ inputTokens }) => inputTokens !== null)?.inputTokens ?? null,
    visits: answers.map((answer) => scores.readMirrored(answer)),
  }));

/** The requests as the test of drift takes them. */
export function trafficWindow(
  seen: readonly ScoredRequest[],
  seconds: number,
  { mirrored = [] }: { readonly mirrored?: readonly ScoredRequest[] } = {},
): TrafficWindow {
  const samples: Record<string, number[]> = {};
  const put = (name: string, value: number | null): void => {
    if (value === null) return;
    samples[name] ??= [];
    samples[name].push(value);
  };
  for (const { inputTokens, visits } of seen) {
    put(inputTokensName, inputTokens);
    for (const { model, outputTokens, score } of visits) {
      put(outputTokensName(model), outputTokens);
      put(scoreName(model), score);
    }
  }
  for (const { visits } of mirrored) for (const { model, score } of visits) put(mirroredScoreName(model), score);
  return { requests: seen.length, seconds, samples };
}
