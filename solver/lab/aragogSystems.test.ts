import { expect, test } from "vitest";
import type { PolicyDocument } from "../plan/policySchema";
import { workflows } from "../workflow/templates";
import { documentOfWorkflow } from "../workflow/workflowDocuments";
import { aragogSystems } from "./aragogSystems";
import { type LabReplicas, labSystemSchema } from "./labSpec";
import { systemRefusal } from "./systemRefusal";
import { systemVariants } from "./systemVariants";

const models = ["small", "middle", "large"].map((model, at) => ({
  ...{ model, cost: at + 1, saturationBatch: 8 },
  throughput: [
    { batch: 1, tokensPerSecond: 40 },
    { batch: 8, tokensPerSecond: 200 },
  ],
}));
const declared = workflows.filter(({ name }) => name === "voting" || name === "self-refine").map(documentOfWorkflow);
const chosen = (selection: Extract<PolicyDocument, { kind: "just-in-time" }>["selection"]): PolicyDocument => ({
  ...{ kind: "just-in-time", models, workflows: declared.map((workflow) => ({ workflow })), selection },
  ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
});
const largest = Object.fromEntries(
  declared.map(({ name, agents }) => [name, Object.fromEntries(agents.map((agent) => [agent.name, "large"]))]),
);
const systems = aragogSystems(chosen, largest);
const engines = models.map(({ model }): LabReplicas => ({ model, gpu: "h100-sxm", precision: "bf16", tp: 1, pp: 1, count: 1 }));

test("all can be raced; baselines know the truth, one system learns, and one configuration for all reads nothing", () => {
  for (const { about, ...system } of systems) {
    expect(systemRefusal(system, engines)).toBeNull();
    expect(labSystemSchema.parse(system)).toEqual(system);
    expect(about).toMatch(/\.$/);
  }
  const read = systems.map(({ name, policy, configurations }) => [
    ...[name, policy.kind === "just-in-time" ? policy.selection.kind : policy.kind, configurations],
  ]);
  expect(read).toEqual([
    ["Per-workflow", "fixed", undefined],
    ["Per-input", "cheapest", "oracle"],
    ["Per-input+", "quickest", "oracle"],
    ["Per-input++", "quickest", "oracle"],
    ["Greedy rounds", "beam", "oracle"],
    ["Aragog, oracle sets", "beam", "oracle"],
    ["Aragog", "beam", "learnt"],
  ]);
});

test("widths of a beam tell systems of one name apart", () => {
  const widths = [1, 4].map((width) => ({ name: "Aragog", policy: chosen({ kind: "beam", width }) }));
  expect(systemVariants(widths)).toEqual(["B 1", "B 4"]);
  const mixed = [...widths, { name: "Aragog", policy: chosen({ kind: "exhaustive" }) }];
  expect(systemVariants(mixed)).toEqual(["#1", "#2", "#3"]);
});

test("choosing among configurations without any, and configurations where nothing chooses, are refused", () => {
  const [fixed, cheapest] = systems;
  if (fixed === undefined || cheapest === undefined) throw new Error("There are no systems");
  expect(systemRefusal({ ...cheapest, configurations: "none" }, engines)).toMatch(/^Just-in-time choice .* say where they come from/);
  expect(systemRefusal({ ...fixed, configurations: "oracle" }, engines)).toMatch(/^Nothing here reads accurate configurations/);
  expect(systemRefusal({ ...cheapest, configurations: "named" }, engines)).toMatch(/^The policy names no predictor/);
  expect(systemRefusal({ ...cheapest, confidence: "learnt" }, engines)).toMatch(/^Nothing here reads confidence/);
});
