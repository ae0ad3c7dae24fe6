import { type GatewayRounds, gatewayRoundsSchema } from "@/server/contracts/gateway/gatewayRounds";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { type AdminPort, hashed, type TestGateway, testConfig } from "./testGateway";

/** Smallest first. */
export const ladder = ["small", "medium", "large"];

/** Three agents that may use any model vote, and a fourth, which must use the largest, counts. */
export const voting = workflowDocumentSchema.parse({
  name: "voting",
  agents: [
    { name: "voter-1" },
    { name: "voter-2" },
    { name: "voter-3" },
    { name: "aggregator", reads: ["voter-1", "voter-2", "voter-3"], part: "votes" },
  ],
});

/** Every agent may use one model only, so the only configuration is that of the largest models and needs no prediction. */
export const pinned = workflowDocumentSchema.parse({
  name: "pinned",
  agents: [
    { name: "drafter", models: ["small"] },
    { name: "critic", reads: ["drafter"], models: ["medium"], part: "checks" },
    { name: "editor", reads: ["critic"], models: ["large"], part: "revises" },
  ],
});

/** A workflow of one agent, which may use one model only. */
export const alone = (model: string): WorkflowDocument =>
  workflowDocumentSchema.parse({ name: `alone-${model}`, agents: [{ name: "solver", models: [model] }] });

/** A workflow, with the hash of the predictor of its accurate configurations, if any. */
export type Served = JustInTimePolicy["workflows"][number];

export const justInTime = (workflows: readonly Served[], change: Partial<JustInTimePolicy> = {}): JustInTimePolicy => ({
  kind: "just-in-time",
  models: ladder.map((model, at) => ({
    model,
    cost: 3 ** at,
    saturationBatch: 4,
    throughput: [1, 2, 4].map((batch) => ({ batch, tokensPerSecond: (90 * batch) / 3 ** at })),
    meanOutputTokens: 100,
  })),
  workflows: [...workflows],
  selection: { kind: "beam", width: 4 },
  order: { kind: "fcfs" },
  place: { kind: "least-load" },
  ...change,
});

/** One engine of each model, smallest first, under such a policy. */
export const jitConfig = (urls: readonly string[], policy: JustInTimePolicy, maxInFlight = 4) => ({
  ...testConfig({ stages: ladder.map((model, at) => ({ model, urls: [urls[at] ?? ""] })), maxInFlight }),
  ...hashed(policy),
});

/** A call of an agent. */
export const callOf = (workflow: Pick<WorkflowDocument, "name">, agent: string, program: string) => ({
  "x-session-id": program,
  "x-weir-workflow": workflow.name,
  "x-weir-stage": agent,
});

/** Sends a request as an agent of a program. */
export const askAs = ({ post }: Pick<TestGateway, "post">, headers: Record<string, string>, content = "Go on."): Promise<Response> =>
  post("/v1/chat/completions", { model: "cascade/test", messages: [{ role: "user", content }] }, headers);

export async function roundsOf({ adminUrl, adminHeaders = {} }: AdminPort): Promise<GatewayRounds> {
  return gatewayRoundsSchema.parse(await (await fetch(`${adminUrl}/rounds`, { headers: adminHeaders })).json());
}

/** Requests of no declared workflow by a judged cascade of the smallest and the largest model. */
export const judgedSingles: NonNullable<JustInTimePolicy["singles"]> = {
  kind: "cascade",
  stages: [{ model: "small" }, { model: "large" }],
  thresholds: [60],
  judge: { model: "weir-judge", secondsPerCall: 0.1, usdPerCall: 0.001 },
  approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
};
