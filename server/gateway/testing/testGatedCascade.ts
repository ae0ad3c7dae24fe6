import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { GatewayLimits } from "../http/limits";
import { type Answer, sayCompletion, startTestEngine } from "./testEngine";
import type { ScoredPart } from "./testGates";
import { startTestGateway, type TestCascade, testConfig } from "./testGateway";

export const confidence = { kind: "confidence" as const, measure: "minimum" as const };
export const agreement = { kind: "agreement" as const, answer: "number" as const };
export const sure: readonly ScoredPart[] = [
  ["It is ", 0.99],
  ["4", 0.95],
];
const large: Answer = (_, response) => sayCompletion(response, "large", "large");

interface Given extends Partial<TestCascade> {
  readonly small: Answer;
  readonly score?: string;
  readonly peer?: Answer;
  readonly limits?: Partial<GatewayLimits>;
}

/** A cascade of `small` and `large`, and a `peer` that is no stage. */
export async function gated(gate: GateDocument, { small, score, peer, limits, ...given }: Given) {
  const [smallEngine, largeEngine, peerEngine] = await Promise.all([small, large, peer ?? large].map((answer) => startTestEngine(answer)));
  if (!smallEngine || !largeEngine || !peerEngine) throw new Error("An engine did not start.");
  const judge = await startTestEngine((_, response) => sayCompletion(response, score ?? "90", "weir-judge"));
  const gateway = await startTestGateway(limits);
  const stages = [
    { model: "small", urls: [smallEngine.url] },
    { model: "large", urls: [largeEngine.url] },
  ];
  const config = testConfig({ stages, thresholds: [70], gates: [gate], ...(score && { judgeUrl: judge.url }), ...given });
  const withPeer = { id: "peer-0", model: "peer", url: peerEngine.url, state: "active" as const, maxInFlight: 8 };
  await gateway.put({ ...config, replicas: [...config.replicas, withPeer] });
  const status = async () => (await (await fetch(`${gateway.adminUrl}/status`)).json()) as GatewayStatus;
  const asked = async (more: Record<string, unknown> = {}) => {
    const answer = await gateway.chat(more);
    const text = await answer.text();
    const { stages: records, degraded, costUsd } = (await gateway.decisions()).at(-1) ?? {};
    return { answer, text, stage: records?.[0], degraded, costUsd };
  };
  return { ...gateway, config, asked, status, smallEngine, largeEngine, peerEngine, judge };
}
