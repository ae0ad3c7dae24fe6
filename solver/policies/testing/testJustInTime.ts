import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";

export const declared = (name: string, agents: readonly object[]): WorkflowDocument => workflowDocumentSchema.parse({ name, agents });

/** A draft, a critic and a refiner that has the critic's model; and parallel voters, one of which may not be small. */
export const testWorkflows = [
  declared("refine", [
    { name: "draft" },
    { name: "critic", reads: ["draft"] },
    { name: "refiner", reads: ["draft", "critic"], sameModelAs: "critic" },
  ]),
  declared("vote", [
    { name: "voter-1" },
    { name: "voter-2", models: ["medium", "large"] },
    { name: "planner" },
    { name: "voter-3", reads: ["planner"] },
    { name: "count", reads: ["voter-1", "voter-2", "voter-3"] },
  ]),
];

/** Throughput that rises ever less, smaller models higher. */
const curveOf = (tokensPerSecond: number): JustInTimePolicy["models"][number]["throughput"] => [
  { batch: 1, tokensPerSecond },
  { batch: 2, tokensPerSecond: 1.9 * tokensPerSecond },
  { batch: 4, tokensPerSecond: 2.5 * tokensPerSecond },
];

export function justInTime(selection: JustInTimePolicy["selection"], more: Partial<JustInTimePolicy> = {}): JustInTimePolicy {
  return {
    kind: "just-in-time",
    models: ["small", "medium", "large"].map((model, at) => ({
      model,
      cost: 4 ** at,
      saturationBatch: 4,
      throughput: curveOf(300 / (at + 1)),
      meanOutputTokens: 100 + 20 * at,
    })),
    workflows: testWorkflows.map((workflow) => ({ workflow })),
    selection,
    order: { kind: "fcfs" },
    place: { kind: "least-load" },
    ...more,
  };
}

export const selections: readonly JustInTimePolicy["selection"][] = [
  { kind: "beam", width: 4 },
  { kind: "beam", width: 1 },
  { kind: "exhaustive" },
  { kind: "cheapest" },
  { kind: "quickest", when: "arrival" },
  { kind: "quickest", when: "stage" },
  { kind: "worth", rightSeconds: 0, delayWeight: 1 },
  {
    ...{ kind: "worth", rightSeconds: 0, delayWeight: 1 },
    price: { models: [{ model: "large", secondsPerToken: 0.05, waiting: 1 }], dampingSeconds: 2 },
  },
  {
    kind: "fixed",
    configurations: {
      refine: { draft: "small", critic: "medium", refiner: "medium" },
      vote: { "voter-1": "small", "voter-2": "medium", planner: "large", "voter-3": "small", count: "small" },
    },
  },
];
