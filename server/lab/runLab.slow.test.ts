import { expect, test } from "vitest";
import type { LabCell } from "@/server/contracts/studio/lab";
import { splitPrompts } from "@/solver/workload/split";
import { labCells } from "./labCells";
import { makeGround } from "./labGround";
import { atRate, heldOutPrograms, tableOf } from "./labPrograms";
import { labCellKeys, runLab } from "./runLab";
import { testSpec, testTask, testWorkload } from "./testing/testLab";

const nobody = new AbortController().signal;
const spec = testSpec(["vLLM balancing", "STJF oracle", "Chimera, oracle router", "Kairos"]);
const task = testTask({
  ...spec,
  // Few at once, so that requests wait and orders and places tell.
  replicas: spec.replicas.map((replicas) => ({ ...replicas, maxSequences: 2 })),
  systems: spec.systems.map((system) => ({ ...system, lengths: system.lengths === "learnt" ? "oracle" : system.lengths })),
});
const byKey = (a: LabCell, b: LabCell): number => a.seed - b.seed || a.rate - b.rate || a.system - b.system;

async function ran(threads: number, done: readonly LabCell[] = [], of = task): Promise<LabCell[]> {
  const cells: LabCell[] = [];
  await runLab(of, { done, signal: nobody, threads, onDoing: () => undefined, onCell: (cell) => cells.push(cell) });
  return cells.sort(byKey);
}

/** Made once for all tests. */
const all = ran(1);

test("cells are the same whatever the number of threads, and whatever their order", async () => {
  const one = await all;
  const three = await ran(3);
  expect(one).toHaveLength(labCellKeys(task).length);
  expect(three).toEqual(one);
  const cellOf = labCells(task, makeGround(task));
  const backwards = labCellKeys(task).toReversed().map(cellOf);
  expect(backwards.sort(byKey)).toEqual(one);
  // All times differ, so the comparison is not of a constant. Kairos may coincide with balancing: it orders once latencies have converged.
  const kairos = task.spec.systems.findIndex(({ name }) => name === "Kairos");
  const others = one.filter(({ system }) => system !== kairos);
  expect(new Set(others.map(({ digest }) => digest)).size).toBe(others.length);
  const first = one.filter(({ seed }) => seed === 0);
  expect(new Set(first.map(({ digest }) => digest)).size).toBe(first.length);
});

test("predictors that are learnt for a run are the same in every thread", async () => {
  const learning = testTask({ ...testSpec(["LTR"]), rates: [20], seeds: [1, 2] });
  const [first, second] = await ran(2, [], learning);
  const cellOf = labCells(learning, makeGround(learning));
  expect([first, second]).toEqual(labCellKeys(learning).map(cellOf));
});

test("cells that are there are not made again, and the others are as if all had been", async () => {
  const whole = await all;
  expect(await ran(2, whole.slice(0, 7))).toEqual(whole.slice(7));
});

test("an abort ends a long cell at once", async () => {
  const long = { ...task, spec: { ...task.spec, programs: 60_000 } };
  const abort = new AbortController();
  const running = runLab(long, {
    done: [],
    signal: abort.signal,
    onDoing: (doing) => doing === "Simulating" && abort.abort(new Error("enough")),
    onCell: () => undefined,
  });
  await expect(running).rejects.toThrow("enough");
});

test("a cell that fails ends the run with its sentence", async () => {
  const [system] = task.spec.systems;
  if (system === undefined) throw new Error("no system");
  const unknown = { ...system, lengths: { artefact: "0".repeat(64) } };
  const failing = { ...task, spec: { ...task.spec, systems: [system, unknown] } };
  const running = runLab(failing, { done: [], signal: nobody, onDoing: () => undefined, onCell: () => undefined });
  await expect(running).rejects.toThrow(/^The predictor 0+ is not at hand\.$/);
});

test("programs are of held-out prompts only, and the same ones come closer together at a higher rate", () => {
  const sample = heldOutPrograms(spec, testWorkload, testWorkload.outcomes, 1);
  const { planning } = splitPrompts(testWorkload.outcomes.promptIds.length, testWorkload.seed);
  expect([...sample.prompt, ...sample.row].filter((row) => planning.includes(row))).toEqual([]);
  const { arrivalSeconds, ...faster } = atRate(sample, 4);
  expect(faster).toEqual({ ...sample, arrivalSeconds: undefined, ...faster });
  expect([...arrivalSeconds]).toEqual(Array.from(sample.arrivalSeconds, (seconds) => seconds / 4));
  const ofWorkload = heldOutPrograms({ ...spec, arrivals: "workload" }, testWorkload, testWorkload.outcomes, 1);
  expect(ofWorkload.prompt).toEqual(sample.prompt);
  expect(ofWorkload.arrivalSeconds).not.toEqual(sample.arrivalSeconds);
  expect(tableOf(testWorkload, ["qwen2.5-7b"]).models.map(({ model }) => model)).toEqual(["qwen2.5-7b"]);
});

test("a model that is surer is asked more of where the router knows it: with an oracle quality is above that of balancing", async () => {
  const cells = await all;
  const mean = (system: number): number => {
    const own = cells.filter((cell) => cell.system === system);
    return own.reduce((sum, { quality }) => sum + (quality ?? Number.NaN), 0) / own.length;
  };
  expect(mean(2)).toBeGreaterThan(mean(0) + 5);
  for (const cell of cells) {
    expect(cell.programs).toBe(60);
    expect(cell.unserved).toBe(0);
    expect(cell.models.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(cell.latencyQuantiles[100]).toBeGreaterThanOrEqual(cell.meanSeconds);
    expect(cell.queueByLength.reduce((sum, { programs }) => sum + programs, 0)).toBe(60);
  }
});
