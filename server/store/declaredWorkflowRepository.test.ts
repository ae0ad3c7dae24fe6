import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { openStore } from "./store";

const workflow = (name: string, agents = ["a"]) => workflowDocumentSchema.parse({ name, agents: agents.map((each) => ({ name: each })) });
const by = (at: number) => ({ createdAt: new Date(at).toISOString(), actor: "ada" });

it("counts versions by name, holds the newest, and goes on counting where one was removed, over a restart too", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-declared-store-"));
  const first = openStore(folder);
  const put = (document: ReturnType<typeof workflow>, at: number) => first.declaredWorkflows.put({ document, origin: "weir", ...by(at) });
  expect([put(workflow("vote"), 1), put(workflow("refine"), 2), put(workflow("vote", ["a", "b"]), 3)]).toEqual([1, 1, 2]);
  first.close();
  const { declaredWorkflows, close } = openStore(folder);
  expect(declaredWorkflows.list().map(({ document, version, actor }) => [document.name, document.agents.length, version, actor])).toEqual([
    ["refine", 1, 1, "ada"],
    ["vote", 2, 2, "ada"],
  ]);
  expect(declaredWorkflows.remove("vote", by(4))).toBe(true);
  expect([declaredWorkflows.remove("vote", by(5)), declaredWorkflows.find("vote"), declaredWorkflows.find("never")]).toEqual([
    false,
    null,
    null,
  ]);
  expect(declaredWorkflows.list().map(({ document }) => document.name)).toEqual(["refine"]);
  expect(declaredWorkflows.put({ document: workflow("vote"), origin: "langgraph", ...by(6) })).toBe(4);
  expect(declaredWorkflows.find("vote")).toMatchObject({ version: 4, origin: "langgraph", document: workflow("vote") });
  close();
  rmSync(folder, { recursive: true });
});
