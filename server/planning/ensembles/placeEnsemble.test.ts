import { expect, it } from "vitest";
import type { EnsemblePlacement, PlacedSchedule } from "@/server/contracts/studio/ensembles";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import { testPlaceTask } from "../testing/testPlaceTask";
import { type PlaceTask, placeEnsemble } from "./placeEnsemble";

async function placed(changed: Partial<PlaceTask> = {}): Promise<EnsemblePlacement> {
  const made = await placeEnsemble(testPlaceTask(changed));
  if (!made.ok) throw new Error(made.message);
  return made.placement;
}

const promptsBy = ({ workers }: PlacedSchedule): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { model, prompts } of workers.flat()) counts[model] = (counts[model] ?? 0) + prompts;
  return counts;
};

it("places every prompt once in every schedule, within K and caps, and never takes longer than a baseline within these", async () => {
  const { schedules, experts, maxModelsPerWorker, solved } = await placed();
  expect(schedules.map(({ kind }) => kind)).toEqual(["placed", "round-robin", "data-concurrent", "list-scheduling"]);
  for (const schedule of schedules) expect(promptsBy(schedule)).toEqual(Object.fromEntries(experts.map((one) => [one.model, one.prompts])));
  const [own, ...others] = schedules;
  for (const sessions of own!.workers) expect(sessions.length).toBeLessThanOrEqual(maxModelsPerWorker);
  for (const one of experts) {
    const on = own!.workers.filter((sessions) => sessions.some(({ model }) => model === one.model)).length;
    expect(one.replicas).toBe(on);
    expect(on).toBeLessThanOrEqual(one.replicaCap);
  }
  for (const { kind, makespanSeconds } of others)
    if (kind !== "data-concurrent") expect(own!.makespanSeconds).toBeLessThanOrEqual(makespanSeconds + 1e-6);
  expect(solved.lowerBoundSeconds).toBeLessThanOrEqual(solved.makespanSeconds + 1e-6);
  expect(own!.idle).toBeLessThan(schedules[1]!.idle);
});

it("times every schedule alike: a load and the cost of as many answers, and idle over all workers until the last is done", async () => {
  const { schedules, experts } = await placed();
  const answering = new Map<string, number>();
  for (const { workers, makespanSeconds, idle, loads } of schedules) {
    expect(workers).toHaveLength(4);
    const sessions = workers.flat();
    const busy = sessions.reduce((sum, { fromSeconds, untilSeconds }) => sum + untilSeconds - fromSeconds, 0);
    expect([makespanSeconds, loads]).toEqual([Math.max(...sessions.map(({ untilSeconds }) => untilSeconds)), sessions.length]);
    expect(idle).toBeCloseTo(1 - busy / (4 * makespanSeconds), 9);
    for (const { model, prompts, fromSeconds, readySeconds, untilSeconds } of sessions) {
      const { loadSeconds, secondsPerPrompt, prompts: all } = experts.find((one) => one.model === model)!;
      expect(readySeconds - fromSeconds).toBeCloseTo(loadSeconds, 6);
      const seconds = untilSeconds - readySeconds;
      if (prompts === all) expect(seconds).toBeCloseTo(all * secondsPerPrompt, 6);
      expect(seconds).toBeCloseTo(answering.get(`${model} ${prompts}`) ?? seconds, 6);
      answering.set(`${model} ${prompts}`, seconds);
    }
    for (const line of workers)
      for (const [turn, { fromSeconds }] of line.entries())
        if (turn > 0) expect(fromSeconds).toBeGreaterThanOrEqual(line[turn - 1]!.untilSeconds);
  }
});

it("replicates the expert that takes longest, and says what its shards lose, why, and that all of it is modelled", async () => {
  const { experts, notes, aggregator } = await placed();
  const reasoning = experts[1]!;
  expect(reasoning.replicas).toBeGreaterThan(1);
  expect(reasoning.tokensPerSecond.shard!).toBeLessThan(reasoning.tokensPerSecond.whole);
  for (const { says, cost, load, loadSeconds, secondsPerPrompt } of experts) {
    expect(says.length).toBeGreaterThan(20);
    expect(cost.kind).toBe("modelled");
    expect(load.kind).toBe("estimated");
    expect(loadSeconds).toBeGreaterThan(38);
    expect(secondsPerPrompt).toBeGreaterThan(0);
  }
  expect(notes.join(" ")).toContain("Modelled");
  expect(aggregator).toMatchObject({ tp: 4, copies: 1 });
  expect(aggregator!.points.at(0)).toEqual({ share: 0, seconds: 0 });
});

it("takes measured sessions and loads where there are enough, and calls those of emulated engines what they are", async () => {
  const row = (prompts: number, origin: SessionRow["origin"] = "measured"): SessionRow => ({
    ...{ model: "qwen2.5-7b", gpu: "a100-sxm-80g", tp: 1, prompts, concurrency: null, meanOutputTokens: 200 },
    ...{ maxOutputTokens: 800, seconds: 10 + 0.2 * prompts, loadSeconds: 31, origin },
  });
  const enough = [1, 50, 200, 600];
  const placedOf = async (sessionRows: readonly SessionRow[]) => (await placed({ sessionRows })).experts[2]!;
  const measured = await placedOf(enough.map((prompts) => row(prompts)));
  expect(measured.cost).toMatchObject({ kind: "measured", source: expect.stringContaining("4 sessions") });
  expect(measured.load.kind).toBe("measured");
  expect(measured.loadSeconds).toBe(31);
  expect(measured.secondsPerPrompt).toBeGreaterThan(0.19);
  const emulated = await placedOf(enough.map((prompts) => row(prompts, "emulated")));
  expect(emulated.cost).toMatchObject({
    kind: "modelled",
    source: expect.stringContaining("at the level of 4 sessions of emulated engines"),
  });
  expect(emulated.load.kind).toBe("estimated");
  // Emulated rows are not mixed with measured ones, of which there are too few here; nor are rows with another number of GPUs.
  const few = await placedOf([row(50), row(200), row(1, "emulated"), ...enough.map((prompts) => ({ ...row(prompts), tp: 2 }))]);
  expect(few.cost).toMatchObject({ kind: "modelled", source: expect.stringContaining("2 different counts") });
  expect(few.cost.source).toMatch(/^simulated .* at the level of 2 sessions that were measured: [\d.]+ times the simulated seconds; /);
  // Trial batches of a few prompts show how much slower engines are, not how they behave when full.
  const modelled = await placedOf([]);
  const small = await placedOf([4, 8, 12].map((prompts) => row(prompts)));
  expect(small.cost).toMatchObject({ kind: "modelled", source: expect.stringContaining("at most 12 prompts says nothing of 600") });
  const level = Number(/: ([\d.]+) times/.exec(small.cost.source)?.[1]);
  expect(small.secondsPerPrompt / modelled.secondsPerPrompt / level).toBeCloseTo(1, 1);
});

it("passes over sessions that had other numbers of requests in flight, and takes their loads all the same", async () => {
  const row = (prompts: number, concurrency: number): SessionRow => ({
    ...{ model: "qwen2.5-7b", gpu: "a100-sxm-80g", tp: 1, prompts, concurrency, meanOutputTokens: 200, maxOutputTokens: 800 },
    ...{ seconds: 10 * prompts, loadSeconds: 31, origin: "measured" },
  });
  const rows = [12, 50, 200, 600].map((prompts) => row(prompts, 1));
  const placedOf = async (concurrency: number | null) => (await placed({ sessionRows: rows, concurrency })).experts[2]!;
  const other = await placedOf(64);
  expect(other.cost).toMatchObject({ kind: "modelled", source: expect.stringContaining("4 had another number of requests in flight") });
  expect(other).toMatchObject({ loadSeconds: 31, load: { kind: "measured" } });
  expect(other.secondsPerPrompt).toBeLessThan(1);
  expect((await placedOf(1)).cost.kind).toBe("measured");
});

it("takes a load that was measured of the aggregator, which says nothing of how long it answers", async () => {
  const load: SessionRow = {
    ...{ model: "qwen2.5-72b", gpu: "a100-sxm-80g", tp: 4, prompts: 0, concurrency: 64, meanOutputTokens: 0, maxOutputTokens: 0 },
    ...{ seconds: 0, loadSeconds: 77, origin: "measured" },
  };
  // A load of an emulated engine adds nothing to it.
  const { aggregator } = await placed({ sessionRows: [load, { ...load, loadSeconds: 5, origin: "emulated" }] });
  expect(aggregator!.loadSeconds).toBe(77);
  expect(aggregator!.points).toEqual((await placed()).aggregator!.points);
});

it("takes answers to be no longer than prompts and the ensemble both allow", async () => {
  const reasoning = async (ownLimits: readonly (number | null)[], maxTokens?: number) => {
    const { ensemble } = testPlaceTask();
    const placement = await placed({ ownLimits, ensemble: maxTokens === undefined ? ensemble : { ...ensemble, maxTokens } });
    return { seconds: placement.experts[1]!.secondsPerPrompt, all: placement.aggregator!.points.at(-1)!.seconds };
  };
  const [free, own, both] = [await reasoning([null]), await reasoning([400]), await reasoning([400], 4000)];
  expect(own.seconds).toBeLessThan(free.seconds / 2);
  expect(own.all).toBeLessThan(free.all);
  expect(both).toEqual(own);
  expect((await reasoning([8000], 400)).seconds).toEqual(own.seconds);
});

it("sweeps K where it is not given, takes the least within half a percent of the best, and leaves out the baselines that no K has", async () => {
  const { sweep, maxModelsPerWorker, schedules } = await placed({ maxModelsPerWorker: null });
  const best = Math.min(...sweep.map(({ makespanSeconds }) => makespanSeconds));
  expect(sweep.find((one) => one.maxModelsPerWorker === maxModelsPerWorker)!.makespanSeconds).toBe(schedules[0]!.makespanSeconds);
  expect(schedules[0]!.makespanSeconds).toBeLessThanOrEqual(1.005 * best * (1 + 1e-9));
  for (const one of sweep) if (one.maxModelsPerWorker < maxModelsPerWorker) expect(one.makespanSeconds).toBeGreaterThan(1.005 * best);
});

it("has the aggregator's engines side by side where that is quicker, and never slower on more workers", async () => {
  const aggregatorOn = async (workers: number, aggregator: string) => {
    const { ensemble, lengths } = testPlaceTask();
    const placement = await placed({
      ...{ workers, gpusByNode: [workers], gpu: "l40s", maxModelsPerWorker: 3, prompts: [90, 70, 60, 50, 30] },
      ensemble: { ...ensemble, aggregator: { model: aggregator } },
      lengths: { ...lengths, [aggregator]: lengths["qwen2.5-72b"]! },
    });
    return placement.aggregator!;
  };
  const [two, eight] = [await aggregatorOn(2, "qwen2.5-32b"), await aggregatorOn(8, "qwen2.5-32b")];
  expect([two, eight]).toMatchObject([
    { tp: 2, copies: 1 },
    { tp: 2, copies: 4 },
  ]);
  expect(eight.points.at(-1)!.seconds).toBeLessThan(two.points.at(-1)!.seconds / 3);
});

it("refuses in a sentence what cannot be placed", async () => {
  const message = async (changed: Partial<PlaceTask>): Promise<string> => {
    const made = await placeEnsemble(testPlaceTask(changed));
    return made.ok ? "placed" : made.message;
  };
  const { ensemble } = testPlaceTask();
  const large = { ...ensemble, experts: ["llama-3.1-70b", "qwen2.5-7b"] };
  const lengths = { ...testPlaceTask().lengths, "llama-3.1-70b": testPlaceTask().lengths["qwen2.5-7b"]! };
  expect(await message({ ensemble: large, prompts: [10, 10], lengths })).toMatch(
    /llama-3\.1-70b does not fit a worker of one NVIDIA A100.*: give workers 2, 4 or 8 of them/,
  );
  expect(await message({ ensemble: { ...ensemble, experts: ["nobody", "qwen2.5-7b"] }, prompts: [1, 1] })).toContain("no card of nobody");
  expect(await message({ lengths: {} })).toContain("how long answers of gemma-2-9b are");
  const endless = { ...testPlaceTask().lengths, "qwen2.5-7b": { inputTokens: [10], outputTokens: [5e7] } };
  expect(await message({ lengths: endless })).toMatch(/No prompt with its answer has room .* qwen2\.5-7b/);
  expect(await message({ gpu: "abacus" })).toContain("no card of the GPU abacus");
  expect((await message({ workers: 2, maxModelsPerWorker: 1 })).length).toBeGreaterThan(20);
});

it("places what answers nothing nowhere, and has no aggregator where it fits in no shape", async () => {
  const { experts, aggregator, schedules, notes } = await placed({
    prompts: [900, 700, 600, 0, 0],
    ...{ workers: 2, gpusByNode: [1, 1], ensemble: { ...testPlaceTask().ensemble, maxTokens: 100 } },
  });
  expect(experts[3]).toMatchObject({ prompts: 0, replicas: 0, secondsPerPrompt: 0, tokensPerSecond: { whole: 0, shard: null } });
  expect(schedules[0]!.workers.flat().map(({ model }) => model)).not.toContain("glm-4-9b");
  expect(aggregator).toBeNull();
  expect(notes.at(-1)).toContain("cannot be timed");
});
