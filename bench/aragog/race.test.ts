import { expect, test } from "vitest";
import { generatedWorkload } from "@/solver/workload/generated";
import { enginesOf, type RaceLadder, withSmall } from "./raceLadders";
import { allGpus, HALFWAY, ORACLE, PER_INPUT, PER_WORKFLOW, type RaceRow, raceOn } from "./raceRun";
import { pairsOf, raceTables } from "./raceTables";

const ladder: RaceLadder = {
  ...{ name: "generated", families: [], task: "crux", standsFor: "none" },
  models: ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"],
};
const workload = generatedWorkload({ prompts: 300, ladder: [...ladder.models], seed: 1 });
const answers = { workload, texts: workload.outcomes.promptIds.map(() => null) };
const of = {
  ...{ part: "all", ladder, workflow: "self-refine", gpus: 8 as const, ...HALFWAY, beams: [1] },
  ...{ only: [PER_WORKFLOW, PER_INPUT, ORACLE], seeds: [1, 2], batches: 2 },
};

test("systems without a router have its GPU, and what they serve, how well and how fast is told of the same programs", {
  timeout: 60_000,
}, async () => {
  const rows = await raceOn({ ...of, latency: true }, answers);
  expect([...new Set(rows.map(({ load }) => load))]).toEqual(["overload", PER_INPUT, allGpus(ORACLE)]);
  expect([...new Set(rows.map(({ system }) => system))]).toEqual([PER_WORKFLOW, PER_INPUT, ORACLE, "B 1", allGpus(ORACLE)]);
  const full = rows.filter(({ load }) => load === "overload");
  const named = (name: string): RaceRow => full.find(({ system }) => system === name) as RaceRow;
  for (const row of full) {
    expect(row.unserved).toBe(0);
    for (const [seed, programs] of row.programsPerSecond.entries()) {
      expect(programs).toBeLessThan(row.offeredPerSecond);
      expect(row.p95Seconds[seed]).toBeGreaterThan(row.p50Seconds[seed] ?? Number.NaN);
      // With perfect knowledge nobody falls behind the largest models.
      expect(row.quality[seed]).toBeGreaterThanOrEqual((row.largestQuality[seed] ?? Number.NaN) - 1e-9);
    }
    expect(row.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
  }
  for (const [seed, programs] of named(PER_WORKFLOW).programsPerSecond.entries()) {
    expect(named(ORACLE).programsPerSecond[seed]).toBeGreaterThan(programs);
    expect(named(allGpus(ORACLE)).programsPerSecond[seed]).toBeGreaterThan(programs);
  }
  expect(pairsOf(rows, [ORACLE, PER_INPUT], "programsPerSecond")).toEqual([
    { own: named(ORACLE).programsPerSecond, reference: named(PER_INPUT).programsPerSecond },
  ]);
  const tables = raceTables([...rows, ...rows.map((row) => ({ ...row, part: "beams" }))]);
  expect(tables.join("\n")).not.toMatch(/NaN|undefined/);
});

test("that agents must share a model changes what is served", { timeout: 60_000 }, async () => {
  const [free, bound] = await Promise.all([raceOn(of, answers), raceOn({ ...of, constrained: true }, answers)]);
  const served = (rows: readonly RaceRow[] | undefined): readonly number[] =>
    rows?.find(({ system }) => system === PER_INPUT)?.programsPerSecond ?? [];
  expect(served(bound)).toHaveLength(2);
  expect(served(bound)).not.toEqual(served(free));
});

test("half of the GPUs are one, one and two, and all eight have a second small engine", () => {
  const gpus = (replicas: ReturnType<typeof withSmall>): number => replicas.reduce((sum, { tp, count }) => sum + tp * count, 0);
  expect([gpus([...enginesOf(ladder, 4)]), gpus([...enginesOf(ladder, 8)]), gpus(withSmall(enginesOf(ladder, 8)))]).toEqual([4, 7, 8]);
});
