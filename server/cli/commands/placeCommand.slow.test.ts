import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { checkInstance } from "@/solver/ensemble/testing/testPlacements";
import { seededRandom } from "@/solver/numeric/random";
import { weirIn } from "../testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-place-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

const experts = checkInstance(2).experts.map(({ cost, ...rest }) => ({ ...rest, secondsPerPrompt: cost(1) }));
const instance = { workers: 4, maxModelsPerWorker: 2, experts };

/** Writes an instance to its own file and places it. */
async function place(name: string, content: unknown, ...flags: readonly string[]) {
  const file = join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return weir("place", "--instance", file, ...flags);
}

interface Printed {
  readonly makespanSeconds: number;
  readonly lowerBoundSeconds: number;
  readonly gap: number;
  readonly maxModelsPerWorker: number;
  readonly workers: readonly { readonly sessions: readonly { readonly expert: string; readonly prompts: number }[] }[];
  readonly baselines: readonly { readonly kind: string; readonly makespanSeconds: number | null }[];
}

test("six experts go on four workers in 1491.85 s, proven, and nothing but JSON is printed", async () => {
  const { code, stdout, stderr } = await place("check.json", instance, "--json", "--time-limit", "60");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const printed: Printed = JSON.parse(stdout);
  expect(printed.makespanSeconds).toBeCloseTo(1491.85, 6);
  expect(printed.lowerBoundSeconds).toBeCloseTo(1491.85, 3);
  expect(printed.gap).toBeLessThan(1e-6);
  expect(printed.workers).toHaveLength(4);
  const sessions = printed.workers.flatMap((worker) => worker.sessions);
  for (const { name, prompts } of experts)
    expect(sessions.filter(({ expert }) => expert === name).reduce((sum, session) => sum + session.prompts, 0)).toBe(prompts);
  for (const { sessions: own } of printed.workers) expect(own.length).toBeLessThanOrEqual(2);
  expect(printed.baselines.map(({ kind }) => kind)).toEqual(["round-robin", "data-concurrent", "list-scheduling"]);
});

test("the gap printed is that of the makespan beside it", async () => {
  const random = seededRandom(1);
  const drawn = Array.from({ length: 14 }, (_, at) => {
    const prompts = 1 + Math.round(random.lognormal(6.5, 1.2));
    const loadSeconds = Math.round(35 + 15 * random.next());
    const secondsPerPrompt = Number((random.next() < 1 / 3 ? 1 + 2 * random.next() : 0.1 + 0.2 * random.next()).toFixed(2));
    return { name: `expert ${at}`, prompts, loadSeconds, secondsPerPrompt };
  });
  const { code, stdout } = await place("drawn.json", { workers: 4, maxModelsPerWorker: 4, experts: drawn }, "--json");
  expect(code).toBe(0);
  const { makespanSeconds, lowerBoundSeconds, gap }: Printed = JSON.parse(stdout);
  expect(gap).toBeGreaterThan(1e-6);
  expect(gap).toBeCloseTo((makespanSeconds - lowerBoundSeconds) / makespanSeconds, 9);
});

test("without JSON, workers' lines, reasons and baselines are told", async () => {
  const { code, stdout } = await place("check.yaml", instance, "--time-limit", "60");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Makespan 1491\.[89] s, proven optimal; /);
  expect(stdout).toMatch(/^ +1 {2}\.+[AB]+\.+[CDEF]+$/m);
  expect(stdout).toContain("one fewer would make the whole 1,161 s longer");
  expect(stdout).toMatch(/round-robin\s+2673\.8 s\s+1\.79/);
});

test("K is swept where it is not given, and one worker for each expert can be asked for", async () => {
  const { maxModelsPerWorker: _, ...open } = instance;
  const swept: Printed = JSON.parse((await place("open.json", open, "--json")).stdout);
  expect(swept.maxModelsPerWorker).toBeGreaterThan(2);
  expect(swept.makespanSeconds).toBeLessThan(1491.85);
  const single: Printed = JSON.parse((await place("single.json", open, "--json", "--replicas", "single")).stdout);
  expect(single.makespanSeconds).toBeCloseTo(2545.8, 6);
  expect(single.workers.flatMap(({ sessions }) => sessions)).toHaveLength(6);
});

test("too little room is infeasible, said on stderr and in JSON", async () => {
  const { code, stdout, stderr } = await place("full.json", { ...instance, maxModelsPerWorker: 1 }, "--json");
  expect(code).toBe(3);
  expect(stderr).toContain("4 workers with 1 model each have room for 4: allow 2 models per worker, or give it 6 workers.");
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "infeasible" });
});

describe("a bad instance is refused in one sentence with line and field, with exit code 2", () => {
  const [first] = experts;
  test.each([
    ["names twice", { ...instance, experts: [first, first] }, "experts.1.name: there are two experts named LlamaR1."],
    ["half a prompt", { ...instance, experts: [{ ...first, prompts: 1.5 }] }, "experts.0.prompts: "],
    ["negative seconds", { ...instance, experts: [{ ...first, secondsPerPrompt: -1 }] }, "experts.0.secondsPerPrompt: "],
    ["no workers", { experts }, "workers: it is missing."],
    ["no room at all", { ...instance, maxModelsPerWorker: 0 }, "maxModelsPerWorker: "],
    ["an unknown field", { ...instance, gpus: 4 }, "gpus: there is no such field."],
    [
      "more than can be searched through",
      { workers: 512, experts: Array.from({ length: 20 }, (_, at) => ({ ...first, name: `expert ${at}` })) },
      "workers: 20 experts are placed on 500 workers at most.",
    ],
    ["no experts", { ...instance, experts: [] }, "experts: "],
    ["no YAML", "{workers: [", "not YAML"],
  ])("%s", async (_, content, says) => {
    const { code, stdout, stderr } = await place("bad.json", content, "--json");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("no file", async () => {
    expect(await weir("place", "--instance", join(folder, "none.json"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is no file"),
    });
  });
});
