import { expect, test } from "vitest";
import { addConfiguration, countInBoth, countOf, emptySet, hasConfiguration } from "@/solver/workflow/configurationSet";
import { generatedWorkload } from "@/solver/workload/generated";
import { allGpus, HALFWAY, LIKE_SOURCE, ORACLE, PER_INPUT, PER_WORKFLOW, type RaceRow } from "./raceCase";
import { enginesOf, type RaceLadder, withSmall } from "./raceLadders";
import { raceOn } from "./raceRun";
import { pairsOf, raceTables } from "./raceTables";
import { headsLike } from "./sourceHeads";

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
  expect([...new Set(rows.map(({ system }) => system))]).toEqual([PER_WORKFLOW, PER_INPUT, ORACLE, "B 1", allGpus(ORACLE), LIKE_SOURCE]);
  const full = rows.filter(({ load }) => load === "overload");
  const named = (name: string): RaceRow => full.find(({ system }) => system === name) as RaceRow;
  for (const row of full) {
    expect(row.unserved).toBe(0);
    for (const [seed, programs] of row.programsPerSecond.entries()) {
      expect(programs).toBeLessThan(row.offeredPerSecond);
      expect(row.p95Seconds[seed]).toBeGreaterThan(row.p50Seconds[seed] ?? Number.NaN);
      // With perfect knowledge nobody falls behind the largest models.
      if (row.system !== LIKE_SOURCE) expect(row.quality[seed]).toBeGreaterThanOrEqual((row.largestQuality[seed] ?? Number.NaN) - 1e-9);
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

test("heads as good as stated are: of the accurate as many are accepted as the recall says, and of the accepted as many are right as the precision", () => {
  const size = 27;
  const accurate = emptySet(size);
  for (let configuration = 9; configuration < size; configuration += 1) addConfiguration(accurate, configuration);
  const heads = headsLike({ precision: 0.95, recall: 0.74 }, { size, accurateShare: 18 / size, seed: 1 });
  let [accepted, right] = [0, 0];
  for (let program = 0; program < 4000; program += 1) {
    const set = heads(program, accurate);
    expect(hasConfiguration(set, size - 1)).toBe(true);
    // The largest is in it whatever heads say, and says nothing of them.
    accepted += countOf(set) - 1;
    right += countInBoth(set, accurate) - 1;
  }
  expect(right / (4000 * 17)).toBeCloseTo(0.74, 2);
  expect(right / accepted).toBeCloseTo(0.95, 1);
  expect(heads(7, accurate)).toEqual(heads(7, accurate));
});
