import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { planHashes } from "@/server/contracts/gateway/planHash";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { workloadLines } from "@/server/workloads/workloadLines";
import { gpuCard } from "@/solver/hardware/gpus";
import { memoryFit } from "@/solver/hardware/memoryFit";
import { modelCard } from "@/solver/hardware/models";
import { planSchema } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";
import { generatedWorkload } from "@/solver/workload/generated";
import { generatedTable, OUTCOMES_HEADER, outcomeRows, writeOutcomes } from "./testing/outcomesCsv";
import { weirIn } from "./testing/testWeir";
import { writeShortTrace } from "./testing/writeShortTrace";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "weir-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const weir = weirIn(folder);

const csv = (name: string): string => writeOutcomes(folder, name);

const trace = ["--arrivals", writeShortTrace(folder)];
const cluster = ["--rate", "20", "--gpu", "l40s", "--nodes", "2", "--gpus-per-node", "4"];
/** A plan with generated arrivals. */
const planAsIs = (file: string, ...more: readonly string[]) => weir("plan", "--outcomes", file, ...cluster, "--quality", "40", ...more);
const plan = (file: string, ...more: readonly string[]) => planAsIs(file, ...trace, ...more);

test("a plan comes out as a document whose hashes cover its parts, and the same from the same files and seed", async () => {
  const file = csv("good.csv");
  const [{ code, stdout, stderr }, again] = await Promise.all([planAsIs(file, "--json"), planAsIs(file, "--json")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(again.stdout).id).toBe(JSON.parse(stdout).id);
  const document = planSchema.parse(JSON.parse(stdout));
  expect(planHashes(document)).toEqual({ id: document.id, topologyHash: document.topologyHash, policyHash: document.policyHash });
  expect(document.predictions.qualityBand.low).toBeGreaterThanOrEqual(40);
});

test("a plan can have another order and place, and says that nothing predicts them", async () => {
  const file = csv("order.csv");
  const { code, stdout } = await plan(file, "--order", "workflow", "--place", "time-slots", "--json");
  expect(code).toBe(0);
  const document = planSchema.parse(JSON.parse(stdout));
  expect(planHashes(document)).toEqual({ id: document.id, topologyHash: document.topologyHash, policyHash: document.policyHash });
  expect(document.policy).toMatchObject({ order: { kind: "workflow" }, place: { kind: "time-slots" } });
  expect(document.predictions.notes[0]).toMatch(/another order or place: nothing predicts them/);
  expect((await plan(file, "--order", "depth")).stdout).toContain("fewest calls yet to make first (Ayo), to the least loaded replica");
  expect(await plan(file, "--order", "soonest")).toMatchObject({ code: 2, stderr: expect.stringContaining("Allowed choices are") });
});

test("a plan can have grace, and says when its figures hold", async () => {
  const file = csv("grace.csv");
  const { code, stdout, stderr } = await plan(file, "--rate", "45", "--quality", "50", "--slack", "1", "--grace", "20", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { policy, predictions } = planSchema.parse(JSON.parse(stdout));
  expect(policy).toMatchObject({ grace: { waiting: 20, calm: 5, holdSeconds: 10, pointsPerSecond: 1 } });
  expect(predictions.notes[0]).toContain("they hold while no later stage is overloaded");
  expect(await plan(file, "--grace", "0")).toMatchObject({ code: 2, stderr: expect.stringContaining("whole number from 1") });
});

test("a judge that is slow and has a price shows in latency and in cost", async () => {
  const file = csv("judge.csv");
  const free = planSchema.parse(JSON.parse((await plan(file, "--rate", "45", "--quality", "56", "--json")).stdout));
  expect(modelsOf(free.policy).length).toBeGreaterThan(1);
  const dear = await plan(file, "--rate", "45", "--quality", "56", "--judge-seconds", "2", "--judge-usd", "0.01", "--json");
  const priced = planSchema.parse(JSON.parse(dear.stdout));
  expect(priced.policy).toMatchObject({ judge: { secondsPerCall: 2, usdPerCall: 0.01 } });
  expect(priced.predictions.p95Seconds).toBeGreaterThan(free.predictions.p95Seconds);
  expect(priced.predictions.costUsdPerRequest).toBeGreaterThan(0.01);
});

test("cards of one's own are read from the file that is named, planned with and put into the plan", async () => {
  const { paramsB: _, provenance, ...shipped } = modelCard("gemma-2-2b")!;
  const own = { ...shipped, id: "our-small", source: provenance.source };
  const cards = join(folder, "own-cards.json");
  writeFileSync(cards, JSON.stringify({ models: [own], prices: { l40s: { usdPerGpuHour: 7, asOf: "2026-11-01" } } }));
  const file = csv("own.csv");
  const ours = ["--cards", cards, "--models", `${generatedTable.models[0]!.model}=our-small`];
  const { code, stdout, stderr } = await plan(file, ...ours, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { inputs } = planSchema.parse(JSON.parse(stdout));
  expect(inputs.models).toContain("our-small");
  expect(inputs.userCards?.models).toEqual([own]);
  expect(inputs.cluster.usdPerGpuHour).toBe(7);
  expect(await plan(file, "--models", `${generatedTable.models[0]!.model}=our-small`)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no model card "our-small"'),
  });
});

test("a file of cards that is missing or broken is refused with file and field", async () => {
  const cards = join(folder, "broken-cards.json");
  writeFileSync(cards, '{"prices": {"l40s": {"usdPerGpuHour": -1, "asOf": "2026-11-01"}}}');
  expect(await plan(csv("broken.csv"), "--cards", cards)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("broken-cards.json: prices.l40s.usdPerGpuHour"),
  });
  expect(await plan(csv("broken.csv"), "--cards", join(folder, "none.json"))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("none.json is no file"),
  });
});

test("the frontier rises in quality and in latency", async () => {
  const { stdout } = await weir("frontier", "--outcomes", csv("frontier.csv"), ...trace, ...cluster, "--json");
  const points: { qualityLow: number; p95Seconds: number }[] = JSON.parse(stdout);
  expect(points.length).toBeGreaterThan(2);
  for (const [index, point] of points.entries()) {
    if (index === 0) continue;
    expect(point.qualityLow).toBeGreaterThan(points[index - 1]!.qualityLow);
    expect(point.p95Seconds).toBeGreaterThan(points[index - 1]!.p95Seconds);
  }
});

describe("bad input is refused in one sentence, with exit code 2", () => {
  test.each([
    ["of a file", { row: 9, column: 8, to: "140" }, [], "score.csv line 11: score is '140'"],
    ["of a flag", null, ["--rate", "fast"], "'fast' is invalid"],
  ] as const)("%s", async (_, change, more, expected) => {
    const { code, stdout, stderr } = await plan(writeOutcomes(folder, "score.csv", { change }), ...more);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(expected);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("what cannot be had is said with what can, and exit code 3", () => {
  test("a floor that no threshold reaches", async () => {
    const { code, stderr } = await plan(csv("floor.csv"), "--quality", "99");
    expect(code).toBe(3);
    expect(stderr).toMatch(/floor of 99: the best .* is [\d.]+/);
  });

  test("fewer GPUs than the smallest model needs", async () => {
    const aliases = generatedTable.models.map(
      ({ model }, rank) => `${model}-x=${["llama-3.1-70b", "qwen2.5-72b", "llama-3.1-405b-fp8"][rank]}`,
    );
    const rows = outcomeRows.map((row) => row.map((cell, column) => (column === 7 ? `${cell}-x` : cell)).join(","));
    const file = join(folder, "large.csv");
    writeFileSync(file, `${OUTCOMES_HEADER}\n${rows.join("\n")}\n`);
    const { code, stderr } = await plan(file, "--nodes", "1", "--gpus-per-node", "2", ...aliases.flatMap((alias) => ["--models", alias]));
    expect(code).toBe(3);
    expect(stderr).toContain("needs 4 of these GPUs for one replica; there are 2");
  });
});

test("an import lands in the studio's store under the hash of its content, once", async () => {
  const file = csv("import.csv");
  const first = await weir("import", "--outcomes", file, "--name", "mine");
  expect(first.stdout.trim()).toMatch(/^[0-9a-f]{64}$/);
  expect((await weir("import", "--outcomes", file)).stdout).toBe(first.stdout);
});

test("a workload that a studio wrote is imported under its own hash, and damage is named by line", async () => {
  const workload = { ...generatedWorkload({ prompts: 40, seed: 9 }), name: "written" };
  const file = join(folder, "written.jsonl");
  writeFileSync(file, [...workloadLines(workload)].join(""));
  expect(await weir("import", "--workload", file)).toMatchObject({ code: 0, stdout: `${workloadHash(workload)}\n` });
  writeFileSync(file, [...workloadLines(workload)].slice(0, 12).join(""));
  const cut = await weir("import", "--workload", file);
  expect([cut.code, cut.stderr]).toEqual([2, expect.stringContaining("written.jsonl ends with line 12 after 11 of 40 prompts")]);
  expect((await weir("import")).stderr).toContain("--outcomes <file> or --workload <file> is missing");
});

const data = join(root, "..", "shared", "data");
const real = { outcomes: join(data, "quality", "cascade_outcomes.csv"), arrivals: join(data, "traces", "AzureLLMInferenceTrace_conv.csv") };

describe("on published outcomes and a production trace", needs(file(real.outcomes), file(real.arrivals)), () => {
  const llama = (...more: readonly string[]) =>
    weir(
      ...["plan", "--outcomes", real.outcomes, "--family", "Llama-3.1-Instruct", "--tasks", "gsm,crux", "--arrivals", real.arrivals],
      ...["--gpu", "h100-sxm", "--nodes", "4", "--gpus-per-node", "8", "--json", ...more],
    );

  test("a floor of 85 at 120 requests/s holds for the lower 90 % bound on at most 32 GPUs, every replica inside its memory and node", async () => {
    const document = planSchema.parse(JSON.parse((await llama("--rate", "120", "--quality", "85")).stdout));
    expect(document.predictions.qualityBand).toMatchObject({ confidence: 0.9 });
    expect(document.predictions.qualityBand.low).toBeGreaterThanOrEqual(85);
    expect(document.deployment.reduce((sum, { gpus }) => sum + gpus, 0)).toBeLessThanOrEqual(32);
    const taken = new Set<string>();
    for (const { model, gpus, replicas } of document.deployment) {
      expect(replicas.reduce((sum, { tp, pp, count }) => sum + tp * pp * count, 0)).toBe(gpus);
      for (const { tp, pp, count, placements } of replicas) {
        expect(memoryFit(modelCard(model)!, gpuCard("h100-sxm")!, { tp, pp }).fits).toBe(true);
        expect(placements).toHaveLength(count);
        for (const { node, gpus: indices } of placements.flat()) {
          // A pipeline may cross nodes, a tensor-parallel group may not.
          expect(indices.length % tp).toBe(0);
          for (const index of indices) {
            expect(index).toBeLessThan(8);
            expect(taken.has(`${node}:${index}`)).toBe(false);
            taken.add(`${node}:${index}`);
          }
        }
      }
    }
  });

  test("at 8 requests/s and a floor of 80 one model alone wins, and the plan says why", async () => {
    const document = planSchema.parse(JSON.parse((await llama("--rate", "8", "--quality", "80")).stdout));
    expect(modelsOf(document.policy)).toHaveLength(1);
    expect(document.solver.why.join(" ")).toContain("One model alone wins");
  });
});
