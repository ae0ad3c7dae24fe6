import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf, thresholdsOf } from "@/solver/plan/policySchema";
import { drawSample } from "@/solver/workload/sample";
import type { Workload } from "@/solver/workload/workload";

export interface TestTraffic {
  readonly rate: number;
  /** Prompts so many times as long as the workload's. */
  readonly longer?: number;
  /** Judged scores so many points lower than the workload's. */
  readonly lower?: number;
}

export interface TestGateway {
  readonly plan: Plan;
  readonly workload: Workload;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  readonly startMs: number;
}

const LATENCY_SECONDS = 2;

/** What a gateway writes down while fresh prompts of a workload come under a plan, from so many engine seconds after its start on. */
export function testDecisions(
  { plan, workload, timeScale, startMs }: TestGateway,
  span: { readonly fromSeconds: number; readonly seconds: number },
  { rate, longer = 1, lower = 0 }: TestTraffic,
): Decision[] {
  const { outcomes } = workload;
  const [models, thresholds] = [modelsOf(plan.policy), thresholdsOf(plan.policy)];
  const columns = models.map((name) => outcomes.models.find(({ model }) => model === name));
  const requests = Math.round(rate * span.seconds);
  const sample = drawSample(workload, { part: "heldOut", requestsPerSecond: rate, requests, seed: span.fromSeconds });
  return Array.from(sample.prompt, (row, at): Decision => {
    const inputTokens = Math.round((outcomes.inputTokens[row] ?? 0) * longer);
    const visits: Decision["stages"] = [];
    for (const [stage, column] of columns.entries()) {
      const threshold = thresholds[stage] ?? null;
      const judgedScore = threshold === null ? null : Math.max(0, (column?.judged[row] ?? 0) - lower);
      const accepted = threshold === null || (judgedScore ?? 0) >= threshold;
      visits.push({
        ...{ model: models[stage] ?? "", replica: "r", queueSeconds: 0, seconds: 1, judgeSeconds: 0.2, reason: "" },
        ...{ judgedScore, threshold, verdict: accepted ? "accepted" : "escalated", inputTokens },
        outputTokens: column?.outputTokens[row] ?? 0,
      });
      if (accepted) break;
    }
    return {
      ...{ sequence: at + 1, id: `${span.fromSeconds}-${at}`, planId: plan.id, policyHash: plan.policyHash, status: 200, reason: "" },
      ...{ ttftSeconds: 0.1, endToEndSeconds: LATENCY_SECONDS, overheadSeconds: 0, stages: visits },
      finishedAtMs: startMs + ((span.fromSeconds + (sample.arrivalSeconds[at] ?? 0) + LATENCY_SECONDS) / timeScale) * 1000,
    };
  });
}
