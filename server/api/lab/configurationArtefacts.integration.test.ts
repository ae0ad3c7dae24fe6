import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { TrainRequest } from "@/server/contracts/studio";
import { keepProfile, keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { createUploads } from "@/server/store/uploads";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { type PolicyDocument, policySchema } from "@/solver/plan/policySchema";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { decodeArtefact } from "@/solver/prediction/artefact";
import { configurationPredictor } from "@/solver/prediction/configurations";
import { sketchOf } from "@/solver/words/sketch";
import { countOf } from "@/solver/workflow/configurationSet";
import { predictorRefusal } from "../plans/predictorRefusal";
import { labelledPrompts, SECRET } from "../testing/testLabelledPrompts";
import { createArtefactService } from "./artefactService";

const models = ["qwen2.5-3b", "qwen2.5-7b"];
const refine = workflowDocumentSchema.parse({
  name: "refine",
  agents: [
    { name: "writer" },
    { name: "critic", reads: ["writer"], part: "checks", instructions: `Look for the ${SECRET}.` },
    { name: "editor", reads: ["writer", "critic"], part: "revises" },
  ],
});

let folder: string;
let store: Store;
let service: ReturnType<typeof createArtefactService>;
let workloadId: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-configurations-"));
  store = openStore(folder);
  service = createArtefactService({ store, uploads: createUploads(folder), clusterOf: () => null, gatewayOf: () => null });
  const { workload, texts } = labelledPrompts(600, 0.01);
  const profileId = keepProfile(store, keepPrompts(store, texts), {
    ...{ models: [], measures: [], concurrency: 1, requestsPerMinute: null, capUsd: null, maxOutputTokens: 10, keepAnswers: false },
  });
  workloadId = storeWorkload(store, workload, { profileId });
  store.declaredWorkflows.put({ document: refine, origin: "weir", createdAt: new Date().toISOString(), actor: "ada" });
});
afterAll(() => {
  service.close();
  store.close();
  rmSync(folder, { recursive: true });
});

const request = (change: object = {}): TrainRequest =>
  ({ train: "configurations", workloadId, workflow: "refine", models, correlation: 0.9, misleads: 0.5, ...change }) as TrainRequest;

/** A policy that names a predictor for a workflow. */
const policyOf = (predictor: string, workflow: WorkflowDocument = refine, over: readonly string[] = models): PolicyDocument =>
  policySchema.parse({
    kind: "just-in-time",
    models: over.map((model, at) => ({ model, cost: 1 + at, saturationBatch: 8, throughput: [{ batch: 8, tokensPerSecond: 100 }] })),
    workflows: [{ workflow, predictor }],
    selection: { kind: "beam", width: 4 },
    order: { kind: "fcfs" },
    place: { kind: "least-load" },
  });

describe("predictors of accurate configurations", () => {
  it("are trained for a declared workflow, tell easy prompts from hard ones, and keep neither words nor instructions", async () => {
    expect(await service.train(request(), "ada")).toEqual({ ok: true });
    const state = await vi.waitUntil(() => (service.state()?.kind === "training" ? false : service.state()), {
      timeout: 50_000,
      interval: 20,
    });
    if (state?.kind !== "trained") throw new Error(JSON.stringify(state));
    const kept = store.artefacts.get(state.hash);
    expect(kept?.artefact).toMatchObject({ kind: "configurations", version: 1, actor: "ada" });
    expect(kept?.artefact.training).toMatchObject({
      models,
      misleads: 0.5,
      workflows: ["refine"],
      texts: true,
      source: "modelled outcomes",
    });
    expect(kept?.artefact.heldOut.configurations?.precision).toBeGreaterThan(0.9);
    expect(store.audit.list(1)[0]?.detail).toMatch(/^configurations v1 of refine of labelled/);
    expect([Buffer.from(kept?.bytes ?? []).includes(SECRET), JSON.stringify(kept?.artefact).includes(SECRET)]).toEqual([false, false]);

    const artefact = decodeArtefact(kept?.bytes ?? new Uint8Array());
    if (artefact.kind !== "configurations") throw new Error("not of configurations");
    const facts = ["Please sum this", "Please prove this"].map((text) => ({
      ...{
        instructionTokens: 0,
        promptTokens: 20,
        inputTokens: 20,
        workflow: "refine",
        stage: "writer",
        sketch: sketchOf(`${text}, ${SECRET}, case 7`),
      },
    }));
    const [easy, hard] = configurationPredictor(artefact).predict(facts);
    expect(countOf(easy?.accurate ?? new Uint32Array())).toBeGreaterThan(countOf(hard?.accurate ?? new Uint32Array()));

    expect(predictorRefusal(store, policyOf(state.hash))).toBeNull();
    expect(predictorRefusal(store, policyOf(state.hash, { ...refine, title: "Another title" }))).toBeNull();
    expect(predictorRefusal(store, policyOf(state.hash, { ...refine, name: "other" }))).toMatch(
      /for the workflow refine: train one for it/,
    );
    expect(predictorRefusal(store, policyOf(state.hash, refine, models.toReversed()))).toMatch(/it is one over qwen2.5-3b, qwen2.5-7b/);
    const confidence = { ...policyOf(state.hash), learnt: { confidence: state.hash } };
    expect(predictorRefusal(store, confidence)).toMatch(/for confidence, but it is one of configurations/);
    expect(predictorRefusal(store, policyOf("a".repeat(64)))).toMatch(
      /names the predictor aaaaaaaa for configurations, which is not kept here/,
    );
  });

  it("are refused where the workflow is not declared, has no such models, or the workload no answers of them", async () => {
    const messages = [];
    for (const change of [{ workflow: "other" }, { models: ["qwen2.5-3b", "qwen2.5-3b"] }]) {
      const answer = await service.train(request(change), "ada");
      messages.push(answer.ok ? "" : answer.message);
    }
    expect(messages).toEqual([
      'No workflow "other" is declared: declare it on the Workflows page.',
      "A model is named twice: name each once.",
    ]);
    expect(await service.train(request({ models: ["qwen2.5-3b", "stranger"] }), "ada")).toEqual({ ok: true });
    const state = await vi.waitUntil(() => (service.state()?.kind === "training" ? false : service.state()), {
      timeout: 50_000,
      interval: 20,
    });
    expect(state).toEqual({ kind: "failed", problem: "labelled has no answers of stranger." });
  });
});
