import { expect, it } from "vitest";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { workflows } from "@/solver/workflow/templates";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import { configurationsText, prepareDeclared } from "./prepareDeclared";

const refine: WorkflowDocument = workflowDocumentSchema.parse({
  name: "refine",
  agents: [
    { name: "writer", models: ["small", "large"] },
    { name: "critic", reads: ["writer"], part: "checks" },
    { name: "refiner", reads: ["writer", "critic"], part: "revises", sameModelAs: "critic", maxTokens: 2000, instructions: "Mend it." },
  ],
});

it("puts every agent after those it reads, with the models that may run it", () => {
  const { agents, edges, rows, says } = prepareDeclared(refine);
  const places = new Map(agents.map(({ identity, x }) => [identity.name, x]));
  expect(places.get("writer")).toBeLessThan(places.get("critic") ?? 0);
  expect(places.get("critic")).toBeLessThan(places.get("refiner") ?? 0);
  expect(edges).toHaveLength(3);
  expect(agents.map(({ models, note }) => models?.join(" ") ?? note)).toEqual(["small large", "any model", "model of critic"]);
  expect(rows.map(({ models }) => models)).toEqual(["small, large", "any", "same as critic"]);
  expect(rows[2]).toMatchObject({ reads: "writer, critic", writes: "2,000 tokens", instructions: "Mend it." });
  expect(says).toContain("3 agents, 3 edges");
});

it("says which agents the gateway would ask nothing of their own", () => {
  expect(prepareDeclared(refine).uninstructed).toMatch(/^No instructions: writer, critic\. When the gateway runs/);
  const { agents } = refine;
  const withAll = (instructions: string) => prepareDeclared({ ...refine, agents: agents.map((agent) => ({ ...agent, instructions })) });
  expect(withAll("").uninstructed).toMatch(/^No agent has instructions\./);
  expect(withAll("Do it.").uninstructed).toBeNull();
});

it("draws every modelled workflow without two agents in one place", () => {
  for (const workflow of workflows) {
    const { agents } = prepareDeclared(documentOfWorkflow(workflow));
    expect(agents).toHaveLength(workflow.stages.length);
    expect(new Set(agents.map(({ x, y }) => `${x} ${y}`)).size).toBe(agents.length);
  }
});

it("counts configurations as the space over the models does, and says why there are none", () => {
  const models = ["small", "middle", "large"];
  expect(configurationsText(refine, models)).toEqual({ text: String(configurationSpace(refine, models).size), refused: null });
  expect(configurationsText(refine, ["large"]).refused).toContain("small");
});
