import { execSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { installed, needs } from "@/scripts/needs.mjs";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import type { LearningLine } from "@/server/contracts/gateway/gatewayLearning";
import type { TrainRequest } from "@/server/contracts/studio";
import { identifyEncoder } from "@/server/encoders/encoderFiles";
import { writeTinyEncoder } from "@/server/encoders/testing/testEncoder";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { keepProfile, keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { createUploads } from "@/server/store/uploads";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { decodeArtefact } from "@/solver/prediction/artefact";
import { lengthPredictor } from "@/solver/prediction/lengths";
import { generatedWorkload } from "@/solver/workload/generated";
import { labelledPrompts, SECRET, SUBJECTS } from "../testing/testLabelledPrompts";
import { createArtefactService } from "./artefactService";

let folder: string;
let store: Store;
let service: ReturnType<typeof createArtefactService>;
let bare: string;
let withTexts: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-artefacts-"));
  store = openStore(folder);
  service = createArtefactService({ store, uploads: createUploads(folder), clusterOf: () => null, gatewayOf: () => null });
  bare = storeWorkload(store, generatedWorkload({ prompts: 300, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 }));
  const { workload, texts } = labelledPrompts(600);
  const profileId = keepProfile(store, keepPrompts(store, texts), {
    ...{ models: [], measures: [], concurrency: 1, requestsPerMinute: null, capUsd: null, maxOutputTokens: 10, keepAnswers: false },
  });
  withTexts = storeWorkload(store, workload, { profileId });
});
afterAll(() => {
  service.close();
  store.close();
  rmSync(folder, { recursive: true });
});

/** The result of a training. */
async function trained(request: TrainRequest) {
  expect(await service.train(request, "ada")).toEqual({ ok: true });
  return vi.waitUntil(() => (service.state()?.kind === "training" ? false : service.state()), { timeout: 50_000, interval: 20 });
}
const lengths = (workloadId: string): TrainRequest => ({ train: "lengths", workloadId, workflows: ["coder"], correlation: 1 });
const hashOf = (state: Awaited<ReturnType<typeof trained>>): string => {
  if (state?.kind !== "trained") throw new Error(JSON.stringify(state));
  return state.hash;
};

describe("trained predictors", () => {
  it("learn lengths, are kept by their hash, and are found again where nothing changed", async () => {
    const hash = hashOf(await trained(lengths(withTexts)));
    const kept = store.artefacts.get(hash);
    expect(kept?.artefact).toMatchObject({ kind: "lengths", version: 1, actor: "ada", bytes: kept?.bytes.length });
    expect(kept?.artefact.training).toMatchObject({ prompts: 420, texts: true, source: "modelled programs", correlation: 1 });
    // Words identify the kind of a prompt, but do not order prompts of one kind: half of the pairs are of one kind, and their order is
    // random.
    for (const { remainingTau } of kept?.artefact.heldOut.lengths ?? []) expect(remainingTau).toBeCloseTo(0.25, 1);
    expect(kept?.artefact.heldOut.lengths).toHaveLength(2);
    const decoded = decodeArtefact(kept?.bytes ?? new Uint8Array());
    if (decoded.kind !== "lengths") throw new Error("not lengths");
    expect(lengthPredictor(decoded).models).toEqual(["qwen2.5-3b", "qwen2.5-7b"]);

    expect(await trained(lengths(withTexts))).toEqual({ kind: "trained", hash, again: true });
    expect(service.list()).toHaveLength(1);
  });

  it("learn from words which model solves a prompt, and keep none of them", async () => {
    const hash = hashOf(await trained({ train: "confidence", workloadId: withTexts }));
    const kept = store.artefacts.get(hash);
    const [small] = kept?.artefact.heldOut.confidence ?? [];
    expect(small?.model).toBe("qwen2.5-3b");
    expect(small?.auc).toBeGreaterThan(0.8);
    expect(kept?.artefact.training).toMatchObject({ source: "labelled prompts", encoder: null });
    expect(kept?.artefact.heldOut.outOfFold?.map(({ model }) => model)).toEqual(["qwen2.5-3b", "qwen2.5-7b"]);
    expect(store.artefacts.scores(hash)?.scores).toHaveLength(2 * 600);
    expect(Buffer.from(kept?.bytes ?? []).includes(SECRET)).toBe(false);
    expect(JSON.stringify([store.audit.list(100), service.list()])).not.toContain(SECRET);
  });

  it("get the confidences of planning prompts when they are trained again, if an earlier version kept none", async () => {
    const request: TrainRequest = { train: "confidence", workloadId: withTexts };
    const hash = hashOf(await trained(request));
    const scores = store.artefacts.scores(hash);
    const client = new Sqlite(store.file);
    client.prepare("DELETE FROM confidence_scores").run();
    client.close();
    expect(store.artefacts.scores(hash)).toBeNull();
    expect(await trained(request)).toEqual({ kind: "trained", hash, again: true });
    expect(scores).not.toBeNull();
    expect(store.artefacts.scores(hash)).toEqual(scores);
  });

  it("learn from what an encoder makes of the prompts", needs(installed("@huggingface/transformers")), async () => {
    const words = [...SUBJECTS.easy, ...SUBJECTS.hard];
    const vectorOf = (word: number) => [word < 2 ? 1 : -1, word % 2];
    writeTinyEncoder({ folder: join(folder, "tiny"), words, dimensions: 2, vectorOf });
    const hash = hashOf(await trained({ train: "confidence", workloadId: withTexts, encoderFolder: join(folder, "tiny") }));
    const artefact = store.artefacts.get(hash)?.artefact;
    expect(artefact?.training.encoder).toEqual(await identifyEncoder(join(folder, "tiny")));
    expect(artefact?.heldOut.confidence?.[0]?.auc).toBeGreaterThan(0.8);
  });

  it(
    "are given up while an encoder is at work without harm to the studio, and its process ends",
    needs(installed("@huggingface/transformers")),
    async () => {
      const encoderFolder = join(folder, "given-up");
      writeTinyEncoder({ folder: encoderFolder, words: ["sum"], dimensions: 4096, vectorOf: () => new Array(4096).fill(1) });
      const isAtWork = (): boolean => execSync("ps -eo args=", { encoding: "utf8" }).includes(`encoderProcess.mjs ${encoderFolder}`);
      const seenAtWork: boolean[] = [];
      for (const doing of [/Loading the encoder/, /Encoding \d+ of/, /Encoding \d+ of/]) {
        expect(await service.train({ train: "confidence", workloadId: withTexts, encoderFolder }, "ada")).toEqual({ ok: true });
        await vi.waitUntil(() => doing.test(JSON.stringify(service.state())), { timeout: 20_000, interval: 2 });
        // Encoding may already be finished before the process is looked for.
        seenAtWork.push(isAtWork());
        expect(service.cancel("ada")).toEqual({ ok: true });
        await vi.waitUntil(() => !isAtWork(), { timeout: 20_000 });
        expect(service.state()).toBeNull();
      }
      expect(seenAtWork).toContain(true);
    },
  );

  it("learn of what a gateway remembers, asked over its admin listener", async () => {
    const line = (at: number): LearningLine => ({
      ...{
        startedAtMs: 1000 * at,
        finishedAtMs: 1000 * at + 500,
        program: `p${at}`,
        model: "qwen2.5-3b",
        accepted: true,
        mostTokens: null,
      },
      outputTokens: at % 2 === 0 ? 20 : 600,
      facts: { ...{ instructionTokens: 0, promptTokens: at % 2 === 0 ? 30 : 900, inputTokens: 30, workflow: "", stage: "" }, sketch: null },
    });
    const lines = Array.from({ length: 200 }, (_, at) => JSON.stringify(line(at)));
    const gateway = createServer((request, response) => {
      const known = request.url === "/learning" && request.headers.authorization === "Bearer token";
      response.writeHead(known ? 200 : 404, { "content-type": "application/x-ndjson" }).end(known ? `${lines.join("\n")}\n` : "");
    });
    await new Promise<void>((done) => gateway.listen(0, "127.0.0.1", done));
    const admin = createAdminClient("gateway", `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`, "token");
    const own = createArtefactService({
      store,
      uploads: createUploads(folder),
      clusterOf: () => ({ connector: { emulated: true } }),
      gatewayOf: () => ({ admin }),
    });
    expect(await own.train({ train: "traffic", clusterId: "attic" }, "ada")).toEqual({ ok: true });
    const state = await vi.waitUntil(() => (own.state()?.kind === "training" ? false : own.state()), { timeout: 50_000, interval: 20 });
    gateway.close();
    const artefact = store.artefacts.get(hashOf(state))?.artefact;
    expect(artefact?.training).toMatchObject({
      source: "traffic",
      workloadId: "attic",
      prompts: 140,
      requests: 140,
      emulated: true,
      texts: false,
    });
    expect(artefact?.heldOut.prompts).toBe(60);
    expect(artefact?.heldOut.lengths?.[0]?.requestTau).toBeLessThan(0.1);
  });

  it("say why there is nothing to learn from, and keep nothing", async () => {
    const before = service.list().length;
    const encoderFolder = join(folder, "none");
    expect(await trained({ train: "confidence", workloadId: bare, encoderFolder })).toEqual({
      kind: "failed",
      problem: expect.stringMatching(/^An encoder reads texts.*train on words\.$/),
    });
    expect(await trained({ train: "confidence", workloadId: withTexts, encoderFolder })).toEqual({
      kind: "failed",
      problem: expect.stringContaining("lacks config.json"),
    });
    const refused = [lengths("none"), { ...lengths(bare), workflows: ["other"] }, { train: "traffic", clusterId: "c" }] as const;
    const answers = [];
    for (const request of refused) answers.push(await service.train(request as TrainRequest, "ada"));
    expect(answers.map((answer) => (answer.ok ? "" : answer.message))).toEqual([
      "This workload is not kept any more: choose another.",
      'There is no workflow "other".',
      "This cluster is not connected: it has no gateway to ask.",
    ]);
    expect(service.list()).toHaveLength(before);
  });

  it("are trained one at a time, a cancelled training leaves nothing, and what lacked texts or was generated says so", async () => {
    const before = service.list().length;
    expect(await service.train(lengths(bare), "ada")).toEqual({ ok: true });
    expect(await service.train(lengths(bare), "ada")).toMatchObject({
      ok: false,
      message: expect.stringContaining("is being trained"),
    });
    await vi.waitUntil(() => service.state()?.kind === "training" && /Learning/.test(JSON.stringify(service.state())), { timeout: 20_000 });
    expect(service.cancel("ada")).toEqual({ ok: true });
    expect(service.state()).toBeNull();
    expect(service.list()).toHaveLength(before);
    const hash = hashOf(await trained(lengths(bare)));
    expect(store.artefacts.get(hash)?.artefact).toMatchObject({ version: 1, training: { texts: false, emulated: true } });
  });

  it("cannot be removed while a plan in force names them, and otherwise are, which the audit tells", () => {
    const artefact = service.list().find(({ kind }) => kind === "lengths");
    const hash = artefact?.hash ?? "";
    const draft = examplePlanDraft();
    const plan = sealPlan({ ...draft, policy: { ...draft.policy, learnt: { lengths: hash } } }, new Date());
    store.plans.keep(plan);
    store.clusters.insert(plan.inputs.cluster, new Date().toISOString());
    store.clusters.setRunning(plan.inputs.cluster.id, { planId: plan.id, since: new Date().toISOString() });
    expect(service.remove(hash, "bob")).toMatchObject({ ok: false, message: expect.stringContaining("The plan in force on") });
    store.clusters.setRunning(plan.inputs.cluster.id, null);
    expect(service.remove(hash, "bob")).toEqual({ ok: true });
    expect(store.artefacts.get(hash)).toBeNull();
    expect(store.audit.list(1)[0]).toMatchObject({ actor: "bob", action: "remove predictor", subject: hash });
    expect(service.remove(hash, "bob")).toMatchObject({ ok: false });
  });
});
