import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { judgeScoreOf } from "@/solver/gates/gates";
import type { TrafficWindow } from "@/solver/numeric/drift";
import type { ObservedRequest } from "@/solver/workload/similarRows";
import { inputTokensName, outputTokensName, scoreName } from "./plannedTraffic";

/** What the gateway's records tell of requests, in the order of the records. `timeScale`: engine seconds in a wall second. */
export function observedRequests(decisions: readonly Decision[], timeScale: number): readonly ObservedRequest[] {
  return decisions.map(({ finishedAtMs, endToEndSeconds, stages }) => {
    const answered = stages.filter(({ verdict }) => verdict !== "failed");
    return {
      arrivalSeconds: (finishedAtMs / 1000) * timeScale - endToEndSeconds,
      inputTokens: answered.find(({ inputTokens }) => inputTokens !== null)?.inputTokens ?? null,
      visits: answered.map((stage) => ({ model: stage.model, outputTokens: stage.outputTokens, judged: judgeScoreOf(stage) })),
    };
  });
}

/** The requests as the test of drift takes them. */
export function trafficWindow(seen: readonly ObservedRequest[], seconds: number): TrafficWindow {
  const samples: Record<string, number[]> = {};
  const put = (name: string, value: number | null): void => {
    if (value === null) return;
    samples[name] ??= [];
    samples[name].push(value);
  };
  for (const { inputTokens, visits } of seen) {
    put(inputTokensName, inputTokens);
    for (const { model, outputTokens, judged } of visits) {
      put(outputTokensName(model), outputTokens);
      put(scoreName(model), judged);
    }
  }
  return { requests: seen.length, seconds, samples };
}
