import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import type { PolicyDocument } from "@/solver/plan/policySchema";

export const mixModels = { small: "gemma-2-2b", large: "llama-3.1-8b", steady: "steady" } as const;

interface MixAddresses {
  readonly small: readonly string[];
  readonly large: readonly string[];
  readonly steady: string;
  readonly judge: string;
}

const aging = { agingThreshold: 50 } as const;

function cascade(thresholds: number, rest: Pick<PolicyDocument, "order" | "place">, whenDown: "accept" | "largest"): PolicyDocument {
  return {
    kind: "cascade",
    stages: [{ model: mixModels.small }, { model: mixModels.large }],
    thresholds: [thresholds],
    judge: { model: "weir-judge", secondsPerCall: 0.27, usdPerCall: 0, whenDown },
    approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
    ...rest,
  };
}

const policies: readonly PolicyDocument[] = [
  cascade(30, { order: { kind: "fcfs" }, place: { kind: "least-load" } }, "accept"),
  cascade(60, { order: { kind: "sjf", ...aging }, place: { kind: "round-robin" } }, "largest"),
  {
    kind: "slack",
    models: [
      { model: mixModels.small, decodeSecondsPerToken: 0.008, maxBatchSize: 32, confidence: 0.5 },
      { model: mixModels.large, decodeSecondsPerToken: 0.025, maxBatchSize: 32, confidence: 0.8 },
    ],
    tau: 0.5,
    deltaScore: 0.1,
    floorSeconds: 0.3,
    order: { kind: "stjf", ...aging },
    place: { kind: "least-load", affinity: { ratio: 0.5 } },
    approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
  },
  cascade(45, { order: { kind: "mlfq", quantaSeconds: [0.5, 1, 2], ...aging }, place: { kind: "least-load" } }, "accept"),
  { kind: "fixed", model: mixModels.large, order: { kind: "fcfs" }, place: { kind: "round-robin" } },
];

/** Configurations to switch between: every kind of policy, orders and places, and one engine cordoned in every other. */
export function mixPlans({ small, large, steady, judge }: MixAddresses): readonly GatewayConfig[] {
  return policies.map((policy, index) => ({
    apiVersion: "weir/v1",
    kind: "GatewayConfig",
    name: "mix",
    planId: `plan-${index}`,
    policyHash: policyHash(policy),
    policy,
    replicas: [
      ...replicas(mixModels.small, small),
      ...replicas(mixModels.large, large, index % 2 === 1),
      ...replicas(mixModels.steady, [steady]),
    ],
    judge: { model: "weir-judge", url: judge },
    timeScale: mixTimeScale,
    settings: { judge: { maxInFlight: 64, timeoutSeconds: 0.5 } },
  }));
}

/** Engine seconds per wall second: 40 tokens of the large model take a quarter of a second. */
export const mixTimeScale = 4;

function replicas(model: string, urls: readonly string[], cordonFirst = false): GatewayConfig["replicas"] {
  return urls.map((url, index) => ({
    id: `${model}-${index}`,
    model,
    url,
    state: cordonFirst && index === 0 ? ("cordoned" as const) : ("active" as const),
    maxInFlight: 24,
  }));
}
