import { expect, test } from "vitest";
import type { Policy, View } from "@/solver/policies/core/policy";
import { addConfiguration, countInBoth, countOf, emptySet, hasConfiguration } from "@/solver/workflow/configurationSet";
import { generatedWorkload } from "@/solver/workload/generated";
import { atIntervals, headsLike } from "./directRun";
import {
  allGpus,
  everySeconds,
  HALFWAY,
  LIKE_SOURCE,
  LONGER,
  ORACLE,
  PER_INPUT,
  PER_WORKFLOW,
  PER_WORKFLOW_ALLOWED,
  type RaceRow,
} from "./raceCase";
import { enginesOf, pairLadder, type RaceLadder, withSmall } from "./raceLadders";
import { paceName, raceOn } from "./raceRun";
import { pairsOf, raceTables } from "./raceTables";

const ladder: RaceLadder = {
  ...{ name: "generated", families: [], task: "crux", standsFor: "none" },
  models: ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"],
};
const workload = generatedWorkload({ prompts: 300, ladder: [...ladder.models], seed: 1 });
const answers = { workload, texts: workload.outcomes.promptIds.map(() => null) };
const of = {
  ...{ part: "all", ladder, workflow: "self-refine", gpus: 8 as const, ...HALFWAY, beams: [1] },
  ...{ only: [PER_WORKFLOW, PER_WORKFLOW_ALLOWED, PER_INPUT, ORACLE], seeds: [1, 2], batches: 2 },
};

test("systems without a router have its GPU, and what they serve, how well and how fast is reported for the same programs", {
  timeout: 60_000,
}, async () => {
  const rows = await raceOn({ ...of, latency: true, roundSeconds: [0.5] }, answers);
  expect([...new Set(rows.map(({ load }) => load))]).toEqual([
    "overload",
    paceName(PER_WORKFLOW, 0.9),
    paceName(PER_INPUT, 0.5),
    paceName(PER_INPUT, 0.9),
    paceName(allGpus(ORACLE), 0.9),
  ]);
  expect([...new Set(rows.map(({ system }) => system))]).toEqual([
    ...[PER_WORKFLOW, PER_WORKFLOW_ALLOWED, PER_INPUT, ORACLE, "B 1", allGpus(ORACLE)],
    ...[everySeconds(PER_INPUT, 0.5), everySeconds(ORACLE, 0.5), everySeconds("B 1", 0.5), everySeconds(allGpus(ORACLE), 0.5)],
    LIKE_SOURCE,
  ]);
  const full = rows.filter(({ load }) => load === "overload");
  const named = (name: string): RaceRow => full.find(({ system }) => system === name) as RaceRow;
  for (const row of full) {
    expect(row.unserved).toBe(0);
    for (const [seed, programs] of row.programsPerSecond.entries()) {
      expect(programs).toBeLessThan(row.offeredPerSecond);
      expect(row.p95Seconds[seed]).toBeGreaterThan(row.p50Seconds[seed] ?? Number.NaN);
      // With perfect knowledge no system is below the largest models, except those that may be.
      if (row.system === LIKE_SOURCE) continue;
      const mayLose = row.system === PER_WORKFLOW_ALLOWED ? 2 : 0;
      expect(row.quality[seed]).toBeGreaterThanOrEqual((row.largestQuality[seed] ?? Number.NaN) - mayLose - 1e-9);
    }
    expect(row.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
  }
  for (const [seed, programs] of named(PER_WORKFLOW).programsPerSecond.entries()) {
    expect(named(ORACLE).programsPerSecond[seed]).toBeGreaterThan(programs);
    expect(named(allGpus(ORACLE)).programsPerSecond[seed]).toBeGreaterThan(programs);
    expect(named(everySeconds(PER_INPUT, 0.5)).programsPerSecond[seed]).not.toBe(named(PER_INPUT).programsPerSecond[seed]);
  }
  expect(pairsOf(rows, [ORACLE, PER_INPUT], "programsPerSecond")).toEqual([
    { own: named(ORACLE).programsPerSecond, reference: named(PER_INPUT).programsPerSecond },
  ]);
  const tables = raceTables(["all", "beams", "rounds", LONGER, "half the GPUs"].flatMap((part) => rows.map((row) => ({ ...row, part }))));
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
  for (const of of [ladder, pairLadder]) {
    expect([gpus([...enginesOf(of, 4)]), gpus([...enginesOf(of, 8)]), gpus(withSmall(enginesOf(of, 8)))]).toEqual([4, 7, 8]);
  }
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
    // The largest is always included and does not depend on heads.
    accepted += countOf(set) - 1;
    right += countInBoth(set, accurate) - 1;
  }
  expect(right / (4000 * 17)).toBeCloseTo(0.74, 2);
  expect(right / accepted).toBeCloseTo(0.95, 1);
  expect(heads(7, accurate)).toEqual(heads(7, accurate));
});

test("rounds at intervals wait for their time, unless all engines stand still", () => {
  const rounds: number[] = [];
  const policy = {
    decide: ({ nowSeconds }: View) => {
      rounds.push(nowSeconds);
      return [];
    },
  } as unknown as Policy;
  const waiting = atIntervals(policy, 1);
  const at = (nowSeconds: number, inFlight: number) =>
    waiting.decide({ nowSeconds, waiting: [], replicas: [{ inFlight } as View["replicas"][number]] });
  for (const seconds of [0, 0.4, 0.99, 1, 1.5]) at(seconds, 1);
  at(1.6, 0);
  at(2.1, 1);
  expect(rounds).toEqual([0, 1, 1.6]);
});
