import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import type { Artefact } from "@/server/contracts/studio";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { openStore, type Store } from "@/server/store/store";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { createDeclaredWorkflowService, oracleNote } from "./declaredWorkflowsService";

let store: Store;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "weir-declared-"));
  store = openStore(folder);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });
});

const vote = { name: "vote", agents: [{ name: "one" }, { name: "two" }, { name: "tally", reads: ["one", "two"], part: "votes" }] };
const document = workflowDocumentSchema.parse(vote);
const text = JSON.stringify(vote);

it("keeps a document once, as the next version where it changed, and writes down who did", () => {
  const service = createDeclaredWorkflowService(store);
  expect(service.keep(text, "ada")).toEqual({ ok: true, name: "vote", version: 1, again: false });
  expect(service.keep(JSON.stringify(vote, null, 2), "bob")).toEqual({ ok: true, name: "vote", version: 1, again: true });
  expect(service.keep(JSON.stringify({ ...vote, title: "Votes" }), "bob")).toEqual({ ok: true, name: "vote", version: 2, again: false });
  expect(service.list()).toMatchObject([
    { document: { ...document, title: "Votes" }, version: 2, actor: "bob", origin: "weir", predictors: [] },
  ]);
  expect(store.audit.list(9).map(({ actor, action, detail }) => [actor, action, detail])).toEqual([
    ["bob", "declare workflow", "version 2"],
    ["ada", "declare workflow", "version 1"],
  ]);
});

it("reads a graph of another tool with notes and keeps nothing by it, and refuses what is no workflow with its field", () => {
  const service = createDeclaredWorkflowService(store);
  const nodes = ["__start__", "draft", "critic", "__end__"].map((id) => ({ id }));
  const edges = [
    ["__start__", "draft"],
    ["draft", "critic"],
    ["critic", "__end__"],
  ].map(([source, target]) => ({ source, target }));
  const graph = service.read(JSON.stringify({ nodes, edges }));
  if (!graph.ok) throw new Error(graph.message);
  expect(graph.read.origin).toBe("langgraph");
  expect(graph.read.document.agents.map(({ name, reads }) => [name, reads])).toEqual([
    ["draft", []],
    ["critic", ["draft"]],
  ]);
  expect(graph.read.notes.length).toBeGreaterThan(0);
  const wrong = service.keep(JSON.stringify({ ...vote, agents: [{ name: "one", reads: ["two"] }] }), "ada");
  expect(wrong.ok ? "" : wrong.message).toContain("one reads two");
  expect([service.list(), store.audit.list(9)]).toEqual([[], []]);
});

it("lists the predictors that were trained for its agents and models, and not those for an earlier shape of it", () => {
  const service = createDeclaredWorkflowService(store);
  const training = (workflow: Artefact["training"]["workflow"]): Artefact["training"] => ({
    ...{ workloadId: "w", workloadName: "W", models: ["small", "large"], workflows: ["vote"], correlation: 0.5, prompts: 1, requests: 1 },
    ...{ texts: true, encoder: null, source: "modelled outcomes", emulated: false, ...(workflow === undefined ? {} : { workflow }) },
  });
  const put = (digit: string, at: number, workflow: Artefact["training"]["workflow"], kind: Artefact["kind"] = "configurations") =>
    store.artefacts.insert(
      {
        ...{ hash: digit.repeat(64), kind, createdAt: new Date(at).toISOString(), actor: "a", heldOut: { prompts: 1 } },
        training: training(workflow),
      },
      new Uint8Array([1]),
    );
  put("1", 1, document);
  put("2", 2, { ...document, title: "told otherwise" });
  put("3", 3, workflowDocumentSchema.parse({ ...vote, agents: [...vote.agents.slice(0, 2), { name: "tally", reads: ["one"] }] }));
  put("4", 4, undefined, "lengths");
  service.keep(text, "ada");
  expect(service.list().map(({ predictors }) => predictors.map(({ hash }) => hash.slice(0, 1)))).toEqual([["2", "1"]]);
});

it("removes by name, and says which plan in force goes on running its own copy", () => {
  const service = createDeclaredWorkflowService(store);
  expect(service.remove("vote", "ada")).toEqual({ ok: false, message: "There is no declared workflow vote." });
  service.keep(text, "ada");
  expect(service.remove("vote", "ada")).toEqual({ ok: true, says: "Plans that run it have their own copy of it and stay as they are." });
  service.keep(text, "ada");
  const draft = examplePlanDraft();
  const policy: JustInTimePolicy = {
    ...{ kind: "just-in-time", workflows: [{ workflow: document }], selection: { kind: "beam", width: 4 } },
    models: [{ model: "large", cost: 1, saturationBatch: 1, throughput: [{ batch: 1, tokensPerSecond: 1 }] }],
    ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
  };
  const plan = sealPlan({ ...draft, policy }, new Date(0));
  store.plans.keep(plan);
  store.clusters.insert(plan.inputs.cluster, new Date(0).toISOString());
  store.clusters.setRunning(plan.inputs.cluster.id, { planId: plan.id, since: new Date(1).toISOString() });
  const removed = service.remove("vote", "ada");
  expect(removed.ok ? removed.says : "").toMatch(/^The plan in force on example has its own copy/);
  expect([service.list(), store.audit.list(1)[0]?.action]).toEqual([[], "remove workflow"]);
});

it("says how much of what is accurate the predictor accepts, and that without one nothing is left but the largest models", () => {
  const configurations = { precision: 0.8, recall: 0.179, evaluatedShare: 0.4, meanLoss: 0, cheapestLoss: 0 };
  const predictor = { hash: "a1".repeat(32), heldOut: { prompts: 9, configurations } } as Artefact;
  expect(oracleNote(predictor)).toContain("predictor a1a1a1a1a1a1 accepts 18 % of the accurate ones");
  expect(oracleNote(predictor)).toContain("precision 80 %");
  expect(oracleNote(undefined)).toMatch(/without a predictor only the largest models throughout count/);
});
