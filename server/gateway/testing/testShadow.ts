import { expect } from "vitest";
import { type Shadow as ShadowSummary, shadowSchema } from "@/server/contracts/gateway/gatewayControls";
import type { PolicyDocument, SlackPolicy } from "@/solver/plan/policySchema";
import type { TestGateway } from "./testGateway";
import { candidateOf, control } from "./testScoredCascade";

export const signature = { by: "ann", reason: "a look" };
export const questions = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `q${from + index}`);

export async function putShadow(gateway: TestGateway, policy: PolicyDocument): Promise<void> {
  const { status, document } = await control(gateway, "PUT", "/shadow", { candidate: candidateOf(policy), ...signature });
  expect([status, document]).toMatchObject([200, { requests: 0, endReason: "" }]);
}

export async function readShadow(gateway: TestGateway): Promise<ShadowSummary> {
  return shadowSchema.parse((await control(gateway, "GET", "/shadow")).document);
}

/** Slack dispatch between small and large; the confidence in small is higher by `lead`. */
export function slackOver(lead: number): SlackPolicy {
  return {
    kind: "slack",
    models: [
      { model: "small", decodeSecondsPerToken: 0.01, maxBatchSize: 1, confidence: 0.5 },
      { model: "large", decodeSecondsPerToken: 0.02, maxBatchSize: 1, confidence: 0.5 - lead },
    ],
    tau: 0.5,
    deltaScore: 0.1,
    floorSeconds: 0.1,
    order: { kind: "stjf", agingThreshold: 100 },
    place: { kind: "least-load", affinity: { ratio: 0.5 } },
    approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
  };
}
