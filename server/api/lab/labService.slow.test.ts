import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { labCells } from "@/server/lab/labCells";
import { planningPrograms } from "@/server/lab/labPrograms";
import { testSpec, testTask, testWorkload } from "@/server/lab/testing/testLab";
import { openStore, type Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { trainLengths } from "@/solver/prediction/lengths";
import { lengthRowsOf } from "@/solver/prediction/programRows";
import { createLabService } from "./labService";

const folder = mkdtempSync(join(tmpdir(), "weir-lab-"));
let store: Store;
let lab: ReturnType<typeof createLabService>;
let workloadId: string;
beforeAll(() => {
  store = openStore(folder);
  lab = createLabService({ store, cards: createCardStore(folder) });
  workloadId = storeWorkload(store, testWorkload);
});
afterAll(() => {
  lab.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const specOf = () => testSpec(["vLLM balancing", "STJF oracle"], workloadId);

async function started(spec = specOf()): Promise<string> {
  const answer = await lab.start(spec, "ada");
  if (!answer.ok) throw new Error(answer.message);
  return answer.id;
}

const cellsThere = (id: string, least: number) =>
  vi.waitFor(() => expect(lab.get(id)?.cells.length).toBeGreaterThanOrEqual(least), { timeout: 40_000, interval: 20 });
const ended = (id: string) => vi.waitFor(() => expect(lab.get(id)?.state).not.toBe("running"), { timeout: 40_000, interval: 50 });

/** The refusal of one field. */
const fault = (path: string, reason: string) => ({ ok: false, message: `${path}: ${reason}`, field: { path, reason } });

test("a run goes through all of its cells, is found again by its description, and can be forgotten", async () => {
  const id = await started();
  expect(lab.get(id)).toMatchObject({ state: "running", actor: "ada", workloadName: testWorkload.name, cellsAll: 8 });
  expect(await started()).toBe(id);
  expect(lab.remove(id, "ada")).toEqual({ ok: false, message: "This run is under way: cancel it first." });
  await ended(id);
  const run = lab.get(id);
  expect(run).toMatchObject({ state: "done", problem: null, doing: null });
  const cellOf = labCells(testTask(specOf()), { sketches: [], lengths: null, confidence: null, configurations: {} });
  expect(run?.cells).toEqual(run?.cells.map(({ system, rate, seed }) => cellOf({ system, rate, seed })));
  expect(run?.notes.join(" ")).toContain("Engines are modelled");
  // The page's request during a run: it gets no cell twice.
  expect(lab.get(id, 6)?.cells).toEqual(run?.cells.slice(6));
  expect(lab.get(id, 8)?.cells).toEqual([]);
  const { rates, programs, seeds, correlation } = specOf();
  expect(lab.list()).toMatchObject([
    { id, cellsDone: 8, cellsAll: 8, systems: ["vLLM balancing", "STJF oracle"], systemsAll: 2, rates, programs, seeds, correlation },
  ]);
  expect(await started()).toBe(id);
  expect(lab.cancel(id, "ada")).toEqual({ ok: false, message: "This run is not under way." });
  expect(lab.remove(id, "ada")).toEqual({ ok: true });
  expect(lab.get(id)).toBeNull();
  expect(store.audit.list(10).map(({ action }) => action)).toEqual(["remove lab run", "start lab run"]);
});

test("a run that is cancelled keeps its cells, and goes on with the others when it is started again", async () => {
  const spec = { ...specOf(), programs: 1500 };
  const id = await started(spec);
  await cellsThere(id, 2);
  expect(lab.cancel(id, "ada")).toEqual({ ok: true });
  const cancelled = lab.get(id);
  expect(cancelled?.state).toBe("cancelled");
  const kept = cancelled?.cells ?? [];
  expect(kept.length).toBeGreaterThanOrEqual(2);
  expect(kept.length).toBeLessThan(8);
  expect(await started(spec)).toBe(id);
  expect(lab.get(id)?.cells).toEqual(kept);
  await ended(id);
  expect(lab.get(id)).toMatchObject({ state: "done" });
  expect(lab.get(id)?.cells).toHaveLength(8);
  expect(lab.get(id)?.cells).toEqual(expect.arrayContaining([...kept]));
});

test("a run that the studio's end cut says so, is no run that someone cancelled, and keeps what it had found", async () => {
  const spec = { ...specOf(), programs: 1200 };
  const id = await started(spec);
  await cellsThere(id, 1);
  lab.close();
  const kept = store.labRuns.get(id);
  expect(kept).toMatchObject({ state: "interrupted", problem: expect.stringMatching(/^The studio stopped/) });
  // The state after a process was killed.
  store.labRuns.setState(id, "running");
  lab = createLabService({ store, cards: createCardStore(folder) });
  expect(lab.get(id)).toMatchObject({ state: "interrupted", problem: expect.stringMatching(/^The studio stopped/), doing: null });
  expect(lab.get(id)?.cells).toHaveLength(kept?.cellsDone ?? 0);
});

test("what cannot be run is refused with the field, and nothing is kept of it", async () => {
  const before = lab.list().length;
  const refused = async (change: object) => lab.start({ ...specOf(), ...change }, "ada");
  expect(await refused({ workloadId: "nowhere" })).toEqual(fault("workloadId", "there is no workload nowhere."));
  expect(await refused({ engineProfile: "mine" })).toEqual(fault("engineProfile", 'no profile "mine" is kept here.'));
  expect(await refused({ seeds: [1, 1] })).toEqual(fault("seeds.1", "1 is listed twice."));
  expect(lab.list()).toHaveLength(before);
});

test("a system reads a trained predictor of the store by its hash, and one that is of something else is refused", async () => {
  const spec = specOf();
  const sample = planningPrograms(spec, testWorkload, testWorkload.outcomes, 40);
  const rows = lengthRowsOf(sample, { sketches: [], promptTokens: testWorkload.outcomes.inputTokens });
  const bytes = encodeArtefact(trainLengths(rows, { seed: 1 }));
  const hash = createHash("sha256").update(bytes).digest("hex");
  const models = testWorkload.outcomes.models.map(({ model }) => model);
  const training = {
    workloadId,
    workloadName: "",
    models,
    workflows: [],
    prompts: 1,
    texts: false,
    encoder: null,
    emulated: true,
    correlation: 0.5,
    requests: 40,
  };
  const told = { hash, kind: "lengths", createdAt: "2026-11-22T00:00:00Z", actor: "ada", heldOut: { prompts: 1 } } as const;
  store.artefacts.insert({ ...told, training: { ...training, source: "modelled programs" } }, bytes);
  const systems = spec.systems.map((system) => (system.name === "STJF oracle" ? { ...system, lengths: { artefact: hash } } : system));
  const id = await started({ ...spec, programs: 30, seeds: [1], systems });
  await ended(id);
  expect(lab.get(id)).toMatchObject({ state: "done", problem: null });
  expect(lab.get(id)?.notes.join(" ")).not.toContain("better than it is");
  store.artefacts.remove(hash);
  store.artefacts.insert({ ...told, training: { ...training, source: "traffic" } }, bytes);
  const again = await started({ ...spec, programs: 40, seeds: [1], systems });
  expect(lab.get(again)?.notes.join(" ")).toContain(`The predictor ${hash.slice(0, 12)} learnt from traffic of emulated engines`);
  await ended(again);
  const slack = testSpec(["Chimera, no router"], workloadId).systems.map((system) => ({ ...system, confidence: { artefact: hash } }));
  const refused = await lab.start({ ...spec, systems: slack }, "ada");
  expect(refused).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^systems\.0\.confidence .* tells lengths, not confidence\.$/),
  });
});

test("suggestions take engines and workflows that are given, and say which plan or workload is not there", async () => {
  const plain = await lab.suggest({ workloadId });
  if (!plain.ok) throw new Error(plain.message);
  const { spec, saturationRate, systems } = plain.suggestion;
  expect(spec.replicas.map(({ model }) => model)).toEqual(["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"]);
  expect(spec.rates.map((rate) => Math.round((100 * rate) / saturationRate))).toEqual([50, 80, 95]);
  expect(systems).toHaveLength(spec.systems.length);
  const doubled = spec.replicas.map((engine) => ({ ...engine, count: 2 }));
  const given = await lab.suggest({ workloadId, given: { replicas: doubled, correlation: 0, mix: [{ workflow: "coder", share: 1 }] } });
  if (!given.ok) throw new Error(given.message);
  expect(given.suggestion.spec).toMatchObject({ replicas: doubled, correlation: 0, mix: [{ workflow: "coder", share: 1 }] });
  expect(given.suggestion.saturationRate).toBeGreaterThan(2 * saturationRate);
  expect(await lab.suggest({ workloadId, planId: "p" })).toEqual(fault("planId", "there is no plan p."));
  expect(await lab.suggest({ workloadId: "w" })).toEqual(fault("workloadId", "there is no workload w."));
  const knitting = await lab.suggest({ workloadId, given: { mix: [{ workflow: "knitting", share: 1 }] } });
  expect(knitting).toMatchObject({ ok: false, message: expect.stringContaining("mix.0.workflow") });
  expect(lab.workflows().find(({ name }) => name === "planner-coder-qa-coder")?.stages).toHaveLength(4);
});
