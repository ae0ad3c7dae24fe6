import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { planHashes } from "@/server/contracts/gateway/planHash";
import { workloadLines } from "@/server/workloads/workloadLines";
import { planSchema } from "@/solver/plan/plan";
import { generatedWorkload } from "@/solver/workload/generated";
import { weirIn } from "./testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-mix-"));
const weir = weirIn(folder);
afterAll(() => rmSync(folder, { recursive: true }));
const put = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const workload = put("workload.jsonl", [...workloadLines({ ...generatedWorkload({ prompts: 300, seed: 9 }), name: "written" })].join(""));
put("flow.json", JSON.stringify({ name: "pair", agents: [{ name: "one" }, { name: "two", reads: ["one"], part: "revises" }] }));
const cluster = ["--gpu", "l40s", "--nodes", "2", "--gpus-per-node", "4"];
const plan = (...more: readonly string[]) => weir("plan", "--workload", workload, ...cluster, ...more);
const mix = put(
  "mix.yaml",
  "singles: { rate: 3, floor: 40 }\nworkflows:\n  - { file: flow.json, rate: 1, floor: 40 }\n  - { name: self-refine, rate: 0.5, floor: 40 }\n",
);

test("a mix is planned with engines, figures by class, loads and prices, as a sealed plan document, and beside what runs", async () => {
  const { code, stdout, stderr } = await plan("--mix", mix, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  const document = planSchema.parse(JSON.parse(stdout));
  expect(planHashes(document)).toEqual({ id: document.id, topologyHash: document.topologyHash, policyHash: document.policyHash });
  expect(document.predictions.mix?.classes.map(({ name }) => name)).toEqual(["single requests", "pair", "self-refine"]);
  const alone = await plan("--rate", "3", "--quality", "40", "--json");
  const told = await plan("--mix", mix, "--running", put("alone.json", alone.stdout));
  expect(told.stdout).toMatch(/class +per second +floor +quality +mean +p95\n {2}single requests +3 +40\.0/);
  expect(told.stdout).toMatch(/model +load +busy +price\n/);
  expect(told.stdout).toContain("rates may rise to");
  expect(told.stdout).toContain("The same mix on what runs");
  expect(told.stdout).not.toContain("nothing predicts this routing");
}, 120_000);

test("bad input is refused in one sentence with the file and the field, and too much traffic with the share that is carried", async () => {
  const refused = async (text: string, ...more: readonly string[]) => {
    const { code, stderr } = await plan("--mix", put("bad.yaml", text), ...more);
    return [code, stderr.trimEnd()];
  };
  expect(await refused("singles: { rate: 3 }")).toEqual([2, "bad.yaml line 1: singles.floor: it is missing."]);
  expect(await refused("singles: { rate: 3, floor: 40, most: 1 }")).toEqual([2, "bad.yaml line 1: singles.most: there is no such field."]);
  expect(await refused("{}")).toEqual([2, expect.stringMatching(/bad\.yaml: it names neither singles nor workflows\.$/)]);
  expect(await refused("workflows: [{ name: nobody, rate: 1, floor: 0 }]")).toEqual([
    2,
    expect.stringMatching(/workflows\.0\.name: there is no workflow nobody; Weir ships .*self-refine/),
  ]);
  expect(await refused("singles: { rate: 3, floor: 40 }", "--quality", "40")).toEqual([
    2,
    "--mix names rates and floors of the whole traffic: leave out --quality.",
  ]);
  expect(await refused("singles: { rate: 3, floor: 40 }", "--answer-scores")).toEqual([
    2,
    expect.stringContaining("leave out --answer-scores."),
  ]);
  expect(await refused("singles: { rate: 30000, floor: 40 }")).toEqual([3, expect.stringMatching(/carries \d+ % of these rates at most/)]);
  expect(await plan("--quality", "40")).toMatchObject({ code: 2, stderr: "Give --rate, or --mix with the rates of a mix.\n" });
}, 120_000);
