import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { planHashes } from "@/server/contracts/gateway/planHash";
import { workloadLines } from "@/server/workloads/workloadLines";
import { planSchema } from "@/solver/plan/plan";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { generatedWorkload } from "@/solver/workload/generated";
import { weirIn } from "./testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-workflow-"));
const weir = weirIn(folder);
afterAll(() => rmSync(folder, { recursive: true }));
const put = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const workload = put("workload.jsonl", [...workloadLines({ ...generatedWorkload({ prompts: 300, seed: 9 }), name: "written" })].join(""));
const graph = put(
  "graph.json",
  JSON.stringify({
    nodes: ["__start__", "draft it", "critic", "__end__"].map((id) => ({ id })),
    edges: [
      ["__start__", "draft it"],
      ["draft it", "critic"],
      ["critic", "__end__"],
    ].map(([source, target]) => ({ source, target })),
  }),
);
const cluster = ["--gpu", "l40s", "--nodes", "2", "--gpus-per-node", "4"];
const plan = (...more: readonly string[]) => weir("plan", "--workload", workload, "--rate", "40", ...cluster, "--quality", "60", ...more);

test("a graph of another tool comes out as a document that goes in again, and what was assumed beside it", async () => {
  const { code, stdout, stderr } = await weir("import", "workflow", graph);
  const document = workflowDocumentSchema.parse(JSON.parse(stdout));
  expect([code, document.agents.map(({ name, reads }) => [name, reads])]).toEqual([
    0,
    [
      ["draft-it", []],
      ["critic", ["draft-it"]],
    ],
  ]);
  expect(stderr).not.toBe("");
  const again = await weir("import", "workflow", put("again.json", stdout), "--json");
  expect(JSON.parse(again.stdout)).toEqual({ document, origin: "weir", notes: [] });
  const wrong = await weir("import", "workflow", put("wrong.json", '{"agents":[{"name":"a","reads":["b"]}]}'));
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
  expect(wrong.stderr).toContain("wrong.json: ");
  expect(await weir("import", "workflow", join(folder, "none.json"))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no file that can be read"),
  });
});

test("a plan with a workflow has the planned engines, chooses their models just in time, and says that nothing predicts it", async () => {
  const predictor = "a".repeat(64);
  const asked = ["--workflow", graph, "--predictor", predictor, "--beam", "2", "--order", "workflow", "--place", "time-slots"];
  const [base, routed] = [await plan("--json"), await plan(...asked, "--json")];
  expect([base.code, routed.code, routed.stderr]).toEqual([0, 0, ""]);
  const [before, document] = [planSchema.parse(JSON.parse(base.stdout)), planSchema.parse(JSON.parse(routed.stdout))];
  expect(planHashes(document)).toEqual({ id: document.id, topologyHash: document.topologyHash, policyHash: document.policyHash });
  expect(document.topologyHash).toBe(before.topologyHash);
  expect(document.policy).toMatchObject({
    ...{ kind: "just-in-time", selection: { kind: "beam", width: 2 }, order: { kind: "workflow" }, place: { kind: "time-slots" } },
    workflows: [{ predictor, workflow: { agents: [{ name: "draft-it" }, { name: "critic" }] } }],
  });
  expect(document.predictions.notes[0]).toContain("nothing predicts this policy");
  const told = await plan("--workflow", graph);
  expect(told.stdout).toContain("only the largest models count as accurate");
  expect(told.stdout).toContain("nothing predicts this routing");
});

test("agents' answers are scored where that is asked for, and the plan says by what; without a column of confidence it is refused", async () => {
  const generated = generatedWorkload({ prompts: 300, seed: 9 });
  const models = generated.outcomes.models.map((own) => ({ ...own, confidence: own.judged }));
  const confident = put(
    "confident.jsonl",
    [...workloadLines({ ...generated, name: "confident", outcomes: { ...generated.outcomes, models } })].join(""),
  );
  const asked = ["--workflow", graph, "--predictor", "a".repeat(64), "--answer-scores"];
  const scored = await weir("plan", "--workload", confident, "--rate", "40", ...cluster, "--quality", "60", ...asked);
  expect([scored.code, scored.stderr]).toEqual([0, ""]);
  expect(scored.stdout).toMatch(/agents' answers by \S+ scored, for the models of later agents: smallest token probability/);
  expect(await plan(...asked)).toMatchObject({ code: 2, stderr: expect.stringContaining("no column of confidence for the answers of") });
});

test("what does not go with a workflow is refused as bad input, in a sentence", async () => {
  expect(await plan("--beam", "2")).toMatchObject({
    code: 2,
    stderr: "--predictor, --beam, --worth and --answer-scores go with --workflow.\n",
  });
  expect(await plan("--answer-scores")).toMatchObject({ code: 2, stderr: expect.stringContaining("--answer-scores go with --workflow") });
  expect(await plan("--workflow", graph, "--predictor", "abc")).toMatchObject({ code: 2, stderr: expect.stringContaining("SHA-256") });
});
