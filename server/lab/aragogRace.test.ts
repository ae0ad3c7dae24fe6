import { expect, test } from "vitest";
import type { LabCell, LabSpec } from "@/server/contracts/studio/lab";
import { seededRandom } from "@/solver/numeric/random";
import { decodeArtefact, encodeArtefact } from "@/solver/prediction/artefact";
import { configurationQuality } from "@/solver/workflow/configurationOutcomes";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { labCells } from "./labCells";
import { drawnDocuments } from "./labConfigurations";
import { makeGround } from "./labGround";
import { labNotes } from "./labNotes";
import { heldOutPrograms, tableOf } from "./labPrograms";
import { labRefusal } from "./labRefusal";
import type { LabTask } from "./labTask";
import { labCellKeys } from "./runLab";
import { suggestLab } from "./suggestLab";
import { testHardware, testTask, testWorkload } from "./testing/testLab";

const mix: LabSpec["mix"] = ["self-refine", "voting"].map((workflow) => ({ workflow, share: 1 }));
const models = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"].filter((model) =>
  testWorkload.outcomes.models.some((own) => own.model === model),
);
const replicas = models.map((model): LabSpec["replicas"][number] => ({
  ...{ model, gpu: "h100-sxm", precision: "bf16", tp: 1, pp: 1, count: 1, maxSequences: 4 },
}));

function suggested(workload = testWorkload): LabSpec {
  const made = suggestLab({
    ...{ workloadId: "generated", workload, replicas: null, gpu: "h100-sxm", usdPerGpuHour: 1, ...testHardware },
    given: { replicas, mix, misleads: 0.5 },
  });
  if (!made.ok) throw new Error(made.message);
  const { spec } = made.suggestion;
  const systems = spec.systems.filter(({ policy }) => policy.kind === "just-in-time");
  return { ...spec, programs: 80, rates: [Math.max(...spec.rates) * 2], seeds: [1], systems };
}

const spec = suggested();
const premises = { workload: testWorkload, artefactOf: () => null, ...testHardware };
const indexOf = (name: string): number => spec.systems.findIndex((system) => system.name === name);

/** Cells of the systems named, in their order. */
function raced(names: readonly string[], of: LabSpec = spec, read: Pick<LabTask, "embeddings"> = {}): readonly LabCell[] {
  const systems = names.map((name) => of.systems[indexOf(name)] as LabSpec["systems"][number]);
  const task = { ...testTask({ ...of, systems }), ...read };
  return labCellKeys(task).map(labCells(task, makeGround(task)));
}

test("all that is raced just in time is suggested where the mix has workflows of it, and only there", () => {
  expect(models).toHaveLength(3);
  expect(spec.systems.map(({ name }) => name)).toEqual([
    ...["Per-workflow", "Per-input", "Per-input+", "Per-input++", "Greedy rounds", "Aragog, oracle sets", "Aragog"],
  ]);
  expect(labRefusal(spec, premises)).toBeNull();
  const plain = suggestLab({ workloadId: "g", workload: testWorkload, replicas, gpu: "h100-sxm", usdPerGpuHour: 1, ...testHardware });
  expect(plain.ok && plain.suggestion.systems.some(({ policy }) => policy.kind === "just-in-time")).toBe(false);
});

test("with an oracle's sets no program is worse than on the largest models, and the same race gives the same cells", () => {
  const names = ["Per-input", "Per-input+", "Per-input++", "Greedy rounds", "Aragog, oracle sets"];
  const cells = raced(names);
  const served = heldOutPrograms(spec, testWorkload, tableOf(testWorkload, models), 1);
  const spaces = new Map(drawnDocuments(mix).map((document) => [document.name, configurationSpace(document, models)]));
  const largest = Array.from(served.workflow, (workflow, program) => {
    const space = spaces.get(served.workflows[workflow]?.name ?? "");
    return space === undefined ? Number.NaN : (configurationQuality(served, program, space)[space.size - 1] ?? Number.NaN);
  });
  const needed = largest.reduce((sum, quality) => sum + quality, 0) / largest.length;
  for (const cell of cells) {
    expect(cell.unserved).toBe(0);
    expect(cell.quality).toBeGreaterThanOrEqual(needed - 1e-9);
    // Something was given to smaller models: else all this says nothing.
    expect(cell.models[0]?.share).toBeGreaterThan(0.05);
  }
  expect(raced(names)).toEqual(cells);
  expect(new Set(cells.map(({ digest }) => digest)).size).toBeGreaterThan(2);
});

test("configurations that are learnt for the run are chosen among, and are the same whoever learns them", () => {
  const [learnt] = raced(["Aragog"]);
  expect(learnt?.unserved).toBe(0);
  expect(learnt?.quality).not.toBeNull();
  expect(raced(["Aragog"])).toEqual([learnt]);
});

test("a workflow with one configuration is served without heads of its own, beside others that have some", () => {
  const system = spec.systems[indexOf("Aragog")] as LabSpec["systems"][number];
  if (system.policy.kind !== "just-in-time") throw new Error("Aragog is chosen just in time");
  const [first, ...others] = system.policy.workflows;
  if (first === undefined) throw new Error("Aragog declares no workflow");
  const agents = first.workflow.agents.map((agent) => ({ ...agent, models: [models[0] ?? ""] }));
  const workflows = [{ ...first, workflow: { ...first.workflow, agents } }, ...others];
  const task = testTask({ ...spec, systems: [{ ...system, policy: { ...system.policy, workflows } }] });
  const [cell] = labCellKeys(task).map(labCells(task, makeGround(task)));
  expect(cell?.unserved).toBe(0);
  expect(Object.keys(makeGround(task).configurations)).toHaveLength(1);
});

test("single requests by worth are sent by predicted lengths where the run has some, and by the mean where it has none", () => {
  const system = spec.systems[indexOf("Aragog")] as LabSpec["systems"][number];
  if (system.policy.kind !== "just-in-time") throw new Error("Aragog is chosen just in time");
  const singles = {
    ...{ kind: "cascade" as const, stages: models.map((model) => ({ model })), thresholds: models.slice(1).map(() => 0) },
    judge: { model: "judge", secondsPerCall: 0.1, usdPerCall: 0 },
    approvedRanges: { thresholds: models.slice(1).map(() => ({ min: 0, max: 100 })) },
  };
  const selection = { kind: "worth" as const, rightSeconds: 0, delayWeight: 1 };
  const systems = (["none", "oracle"] as const).map((lengths) => ({
    ...{ ...system, lengths, configurations: "oracle" as const },
    policy: { ...system.policy, selection, singles },
  })) as LabSpec["systems"];
  const task = testTask({ ...spec, mix: [{ workflow: "solver", share: 1 }], systems });
  const cells = labCellKeys(task).map(labCells(task, makeGround(task)));
  expect(cells.map(({ unserved }) => unserved)).toEqual([0, 0]);
  expect(cells[0]?.digest).not.toBe(cells[1]?.digest);
});

test("configurations that are learnt on vectors are as good as the vectors: those that tell the right models leave less to the largest", () => {
  const random = seededRandom(1);
  const { promptIds, models: answered } = testWorkload.outcomes;
  const labels = models.map((model) => answered.find((own) => own.model === model)?.label ?? []);
  const largest = (told: boolean): number => {
    const values = Float32Array.from({ length: promptIds.length * labels.length }, (_, at) =>
      told ? (labels[at % labels.length]?.[Math.floor(at / labels.length)] ?? 0) / 100 : random.next(),
    );
    const embeddings = { encoder: { name: "test", sha256: "0".repeat(64) }, dimensions: labels.length, values };
    return raced(["Aragog"], { ...spec, mix: mix.slice(0, 1) }, { embeddings })[0]?.models.at(-1)?.share ?? Number.NaN;
  };
  expect(largest(true)).toBeLessThan(largest(false) - 0.05);
});

test("of a workflow that its policy does not declare requests go to the largest model, and notes say so", () => {
  const system = spec.systems[indexOf("Aragog, oracle sets")] as LabSpec["systems"][number];
  if (system.policy.kind !== "just-in-time") throw new Error("It does not choose just in time");
  const { policy } = system;
  const only = { ...system, policy: { ...policy, workflows: policy.workflows.filter(({ workflow }) => workflow.name === "voting") } };
  const notes = labNotes({ spec: { ...spec, systems: [only] }, workload: testWorkload, texts: false, ...testHardware });
  expect(notes).toContainEqual(expect.stringMatching(/^Which configurations are accurate is modelled/));
  expect(notes).toContainEqual(expect.stringMatching(/^Aragog, oracle sets declares no self-refine .* go to the largest model\.$/));
  expect(labRefusal({ ...spec, systems: [only] }, premises)).toBeNull();
  const refined = { ...spec, mix: mix.slice(0, 1), systems: [only] };
  expect(labRefusal(refined, premises)).toMatchObject({
    path: "systems.0.policy.workflows",
    of: "Aragog, oracle sets",
    reason: expect.stringMatching(/^none declares self-refine/),
  });
  const task = testTask({ ...spec, mix: mix.slice(0, 1), systems: [only] });
  const [cell] = labCellKeys(task).map(labCells(task, makeGround(task)));
  expect(cell?.models.map(({ share }) => share)).toEqual([0, 0, 1]);
});

test("a predictor that a plan names must be kept here, and be one of that workflow over those models", () => {
  const system = spec.systems[indexOf("Aragog")] as LabSpec["systems"][number];
  if (system.policy.kind !== "just-in-time") throw new Error("It does not choose just in time");
  const predictor = "ab".repeat(32);
  const workflows = system.policy.workflows.map(({ workflow }) => ({ workflow, predictor }));
  const named = { ...system, configurations: "named" as const, policy: { ...system.policy, workflows } };
  const refused = labRefusal({ ...spec, systems: [named] }, premises);
  expect(refused).toEqual({
    path: "systems.0.policy.workflows.0.predictor",
    of: "Aragog",
    reason: "no predictor abababababab is kept here.",
  });
});

test("where the workload has confidence, Aragog is raced with scores of answers too, and they change what it chooses", () => {
  const confident = {
    ...testWorkload,
    outcomes: { ...testWorkload.outcomes, models: testWorkload.outcomes.models.map((own) => ({ ...own, confidence: own.judged })) },
  };
  const scored = suggested(confident);
  const names = ["Aragog", "Aragog, scores of answers"];
  expect(scored.systems.map(({ name }) => name)).toEqual([...spec.systems.map(({ name }) => name), "Aragog, scores of answers"]);
  expect(labRefusal(scored, { ...premises, workload: confident })).toBeNull();
  expect(labRefusal(scored, premises)?.reason).toContain("The workload has no confidence of the answers of qwen2.5-3b");
  const systems = scored.systems.filter(({ name }) => names.includes(name));
  const oracle = { ...scored, systems: systems.map((own) => ({ ...own, configurations: "oracle" as const })) };
  expect(labRefusal(oracle, { ...premises, workload: confident })).toMatchObject({ of: "Aragog, scores of answers" });
  const task = { ...testTask({ ...scored, systems }), workload: confident };
  const ground = makeGround(task);
  // Heads that learnt little accept nothing; these accept what is likelier than not.
  const eased = Object.entries(ground.configurations).map(([key, bytes]) => {
    const artefact = decodeArtefact(bytes);
    return [key, artefact.kind === "configurations" ? encodeArtefact({ ...artefact, threshold: 0.5 }) : bytes];
  });
  const [without, withScores] = labCellKeys(task).map(labCells(task, { ...ground, configurations: Object.fromEntries(eased) }));
  expect(withScores!.unserved).toBe(0);
  expect(withScores!.digest).not.toBe(without!.digest);
  expect(labNotes({ spec: task.spec, workload: confident, texts: false, ...testHardware }).join()).toContain("Agents' answers are scored");
});
