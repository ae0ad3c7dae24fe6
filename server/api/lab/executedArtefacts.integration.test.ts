import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { installed, needs } from "@/scripts/needs.mjs";
import { identifyEncoder } from "@/server/encoders/encoderFiles";
import { writeTinyEncoder } from "@/server/encoders/testing/testEncoder";
import { openStore, type Store } from "@/server/store/store";
import { createUploads, type Uploads } from "@/server/store/uploads";
import { modelCards } from "@/solver/hardware/models";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { decodeArtefact } from "@/solver/prediction/artefact";
import { trainConfigurations } from "@/solver/prediction/configurations";
import { executedRows } from "@/solver/prediction/executedRows";
import { heldOutConfigurations } from "@/solver/prediction/heldOut";
import { configurationNames, configurationSpace } from "@/solver/workflow/configurationSpace";
import { surveyUpload } from "../surveyUpload";
import { SECRET } from "../testing/testLabelledPrompts";
import { createArtefactService } from "./artefactService";

const models = ["qwen2.5-3b", "qwen2.5-7b"];
const refine = workflowDocumentSchema.parse({
  name: "refine",
  agents: [{ name: "writer" }, { name: "critic", reads: ["writer"], part: "checks" }, { name: "editor", reads: ["writer", "critic"] }],
});
const space = configurationSpace(refine, models);

/** Hard inputs are solved if the larger model writes, easy ones always; a few inputs lack a configuration. */
function runsOf(inputs: number): string[] {
  const random = seededRandom(11);
  return Array.from({ length: inputs }, (_, at) => {
    const isHard = random.next() < 0.5;
    const input = `Please ${isHard ? "prove" : "sum"} this ${SECRET}, case ${at}`;
    return Array.from({ length: space.size }, (_, number) => {
      const configuration = configurationNames(space, number);
      const right = !isHard || configuration.writer === models[1] ? 0.99 : 0.05;
      return JSON.stringify({ input, configuration, quality: random.next() < right ? 100 : 0 });
    }).filter((_, number) => at >= 3 || number !== 5);
  }).flat();
}

let folder: string;
let store: Store;
let uploads: Uploads;
let service: ReturnType<typeof createArtefactService>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-executed-"));
  store = openStore(folder);
  uploads = createUploads(folder);
  service = createArtefactService({ store, uploads, clusterOf: () => null, gatewayOf: () => null });
  store.declaredWorkflows.put({ document: refine, origin: "weir", createdAt: new Date().toISOString(), actor: "ada" });
});
afterAll(() => {
  service.close();
  store.close();
  rmSync(folder, { recursive: true });
});

async function send(lines: readonly string[]): Promise<string> {
  const saved = await uploads.save(
    (async function* () {
      yield Buffer.from(lines.map((line) => `${line}\n`).join(""));
    })(),
    "runs.jsonl",
  );
  if (!saved.ok) throw new Error(saved.message);
  return saved.id;
}

async function trained(uploadId: string, change: object = {}) {
  expect(await service.train({ train: "executed", uploadId, workflow: "refine", models, ...change }, "ada")).toEqual({ ok: true });
  return vi.waitUntil(() => (service.state()?.kind === "training" ? false : service.state()), { timeout: 50_000, interval: 20 });
}

describe("predictors of accurate configurations of executed runs", () => {
  it("are trained of a file's whole inputs, in a thread, as its rows are here; what is left out is counted, and no text kept", async () => {
    const lines = runsOf(200);
    const state = await trained(await send(["no run", ...lines, JSON.stringify({ input: "x", configuration: {}, quality: 7 })]));
    if (state?.kind !== "trained") throw new Error(JSON.stringify(state));
    const kept = store.artefacts.get(state.hash);
    const { training, heldOut } = kept?.artefact ?? {};
    expect(kept?.artefact).toMatchObject({ kind: "configurations", version: 1 });
    expect(training).toMatchObject({ models, workflows: ["refine"], source: "executed runs", workloadName: "runs.jsonl", encoder: null });
    expect([training?.prompts, training?.requests, heldOut?.prompts]).toEqual([138, 138 * space.size * 3, 59]);
    expect(training?.leftOutRuns).toEqual({
      lines: [
        { problem: "damaged", lines: 1, firstLine: 1 },
        { problem: "agents", lines: 1, firstLine: lines.length + 2 },
      ],
      inputs: 3,
      first: { line: 2, lacks: configurationNames(space, 5) },
    });
    expect(store.audit.list(1)[0]?.detail).toBe("configurations v1 of refine of executed runs in runs.jsonl");
    expect([Buffer.from(kept?.bytes ?? []).includes(SECRET), JSON.stringify(kept?.artefact).includes(SECRET)]).toEqual([false, false]);

    const here = executedRows(
      lines.map((text, at) => ({ line: at + 2, text })),
      refine,
      models,
    );
    const heads = trainConfigurations(here.rows, { seed: mixSeed(1, "configurations") });
    expect(decodeArtefact(kept?.bytes ?? new Uint8Array())).toMatchObject({ threshold: heads.threshold, heads: heads.heads });
    expect(heldOut).toEqual(heldOutConfigurations(heads, here.heldOut));
    expect(heldOut?.configurations?.precision).toBeGreaterThan(0.9);
    expect(heldOut?.configurations?.recall).toBeGreaterThan(0.3);
  });

  it("read what an encoder makes of the inputs, where one is named", needs(installed("@huggingface/transformers")), async () => {
    const encoderFolder = join(folder, "tiny");
    writeTinyEncoder({ folder: encoderFolder, words: ["sum", "prove"], dimensions: 2, vectorOf: (word) => [word === 0 ? 1 : -1, 1] });
    const state = await trained(await send(runsOf(120)), { encoderFolder });
    if (state?.kind !== "trained") throw new Error(JSON.stringify(state));
    const artefact = store.artefacts.get(state.hash)?.artefact;
    expect(artefact?.training.encoder).toEqual(await identifyEncoder(encoderFolder));
    expect([artefact?.version, artefact?.heldOut.prompts]).toEqual([2, 35]);
    expect(artefact?.heldOut.configurations?.recall).toBeGreaterThan(0.3);
  });

  it("are refused where the file is gone, the workflow is not declared, or too little was executed", async () => {
    const uploadId = await send(runsOf(30));
    const gone = "0b0d1a3e-4b3c-4b0e-9a3e-0a8b6a1b2c3d";
    const answers = [];
    for (const change of [{ uploadId: gone }, { workflow: "other" }, { models: [models[0]!, models[0]!] }])
      answers.push(await service.train({ train: "executed", uploadId, workflow: "refine", models, ...change }, "ada"));
    expect(answers.map((answer) => (answer.ok ? "" : answer.message))).toEqual([
      "The uploaded file is not kept any more: send it again.",
      'No workflow "other" is declared: declare it on the Workflows page.',
      "A model is named twice: name each once.",
    ]);
    expect(await trained(uploadId)).toEqual({
      kind: "failed",
      problem: expect.stringMatching(
        /^All 8 configurations of refine were executed of 27 inputs, and learning needs 50; the input of line 1 lacks/,
      ),
    });
  });

  it("are told of before: the runs, the models from the smallest on, and those of which the size is not known", async () => {
    const survey = async (lines: readonly string[]) => {
      const id = await send(lines);
      const found = await surveyUpload({
        uploads,
        id,
        kind: "runs",
        cards: { models: modelCards, gpus: {} },
        signal: AbortSignal.timeout(10_000),
      });
      return { found, isKept: uploads.file(id) !== null };
    };
    const named = (model: string): string => JSON.stringify({ input: "x", configuration: { writer: model }, quality: 1 });
    expect(await survey([named("qwen2.5-7b"), "", "{}", named("ours"), named("qwen2.5-3b")])).toEqual({
      found: { ok: true, runs: 3, otherLines: 1, models, withoutCard: ["ours"] },
      isKept: true,
    });
    expect(await survey(["{}"])).toEqual({
      found: { ok: false, message: expect.stringMatching(/^runs.jsonl has no executed run: /) },
      isKept: false,
    });
    expect(await survey([""])).toEqual({ found: { ok: false, message: "runs.jsonl is empty." }, isKept: false });
  });
});
