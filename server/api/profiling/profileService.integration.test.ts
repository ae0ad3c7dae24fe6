import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { Answerer, Prompt } from "@/server/contracts/studio";
import { profileRequestSchema } from "@/server/contracts/studio/profile";
import { importServingRows } from "@/server/planning/imports/importServingRows";
import type { ProfiledCluster } from "@/server/profiling/answererPool";
import { profiledRequests } from "@/server/profiling/profiledRequests";
import type { HeardRequest, Said } from "@/server/profiling/testing/testModels";
import { testModels } from "@/server/profiling/testing/testModels";
import { keepProfile, keepPrompts, until } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { createUploads, type Uploads } from "@/server/store/uploads";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { clusterSpecSchema } from "@/solver/plan/clusterSpec";
import type { toWorkloadSchema } from "../base/profilingInputs";
import { createProfileService } from "./profileService";

let folder: string;
let store: Store;
let uploads: Uploads;
let service: ReturnType<typeof createProfileService>;
let server: Awaited<ReturnType<typeof testModels>>;
let say: (request: HeardRequest) => Said = () => ({ text: "" });
let knownSinceMs = 0;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-profiles-"));
  store = openStore(folder);
  uploads = createUploads(folder);
  say = ({ model, messages }) => ({
    text: model === "judge" ? `${40 + ((messages[0]?.content ?? "").length % 50)}` : "the answer is 4",
    delayMs: 5,
  });
  server = await testModels((request) => say(request));
  service = started();
});
afterEach(async () => {
  await service.close();
  await server.close();
  store.close();
  rmSync(folder, { recursive: true });
});

/** One engine of a model on a cluster whose hardware is known. */
const cluster = (): ProfiledCluster => {
  const engine = { id: "e1", model: "qwen2.5-3b", gpu: "l40s", tp: 1, pp: 1, placements: [], url: server.url, stopping: false };
  const value = { gpu: "l40s", nodes: [], engines: [engine], routing: { planId: null }, outcomes: null, judge: null };
  const answer = { ok: true, value } as unknown as ReturnType<ProfiledCluster["seen"]>["answer"];
  return { kind: "endpoints", timeScale: () => 1, seen: () => ({ atMs: 1, answer }) };
};

function started() {
  const deployed = { gpu: "l40s", tp: 1, pp: 1, precision: "bf16" } as const;
  const engine = { type: "vllm", version: "0.10.0" };
  const watched = { id: "e1", model: "qwen2.5-3b", engine, deployed, resetsMs: [] };
  return createProfileService({
    ...{ store, uploads, cards: createCardStore(folder) },
    clusterOf: (id) => (id === "c" ? cluster() : null),
    arrivals: { openUpload: uploads.open, workloadOf: () => null, clusterOf: () => null, clusterName: (id) => id },
    sourceOf: async () => ({
      ok: true,
      cluster: { name: "c", emulated: false, timeScale: 1, lookBackMs: 0, series: null as never, engines: [{ ...watched, knownSinceMs }] },
    }),
    unitTests: { problem: async () => null, passes: async () => true },
  });
}

const clusterNamed = (id: string) =>
  clusterSpecSchema.parse({ id, name: id, kind: "endpoints", gpu: "l40s", nodes: [{ name: "n1", gpus: 1 }], usdPerGpuHour: 0 });

const prompts = (count: number): readonly Prompt[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ id: `p${index}`, category: "", atMs: null, reference: index % 2 === 0 ? "4" : "5", test: null },
    body: { messages: [{ role: "user", content: `question ${"x".repeat(index)}` }] },
  }));
const at = (model: string): Answerer => ({
  ...{ model, at: { kind: "url", url: server.url } },
  ...{ usdPerMillionInputTokens: 1, usdPerMillionOutputTokens: 2 },
});
const requestOf = (change: object = {}) =>
  profileRequestSchema.parse({
    ...{
      name: "ours",
      promptSetId: "set",
      models: [{ ...at(""), model: "qwen2.5-3b", at: { kind: "cluster", clusterId: "c" } }, at("qwen2.5-7b")],
    },
    measures: [
      { id: "gate", name: "gate", kind: "rubric", judge: at("judge"), rubric: null, repeats: 1 },
      { id: "right", name: "right", kind: "exact", extract: "number" },
    ],
    ...{ concurrency: 4, requestsPerMinute: null, capUsd: null, maxOutputTokens: 100, keepAnswers: false, ...change },
  });
const done = (id: string) => until(() => service.get(id)?.state === "done");
const workloadOf = (jobId: string, change: Partial<typeof toWorkloadSchema._output> = {}) => ({
  ...{ jobId, name: "measured", gate: "gate", label: "right", arrivals: { kind: "generated" } as const, segments: [], timeZone: "UTC" },
  ...change,
});

describe("profiles", () => {
  it("are estimated first: calls, tokens and money, and on what that rests", async () => {
    keepPrompts(store, prompts(40));
    const answer = await service.estimate(requestOf());
    if (!answer.ok) throw new Error(answer.message);
    const { calls, inputTokens, outputTokens, usd, problems, basis } = answer.estimate;
    // Comparing answers needs no calls.
    expect({ calls, problems }).toEqual({ calls: 160, problems: [] });
    expect(outputTokens).toBe(80 * 100 + 80 * 8);
    expect(usd).toBeCloseTo((inputTokens + 2 * outputTokens) / 1e6, 9);
    expect(basis.join(" ")).toContain("qwen2.5-7b: 100 output tokens and 40 tokens a second are assumed");
  });

  it("are refused with what stands in the way", async () => {
    keepPrompts(
      store,
      prompts(4).map((prompt) => ({ ...prompt, reference: null })),
    );
    const gone = { ...at("qwen2.5-32b"), at: { kind: "cluster", clusterId: "none" } };
    const away = { ...at("qwen2.5-7b"), at: { kind: "cluster", clusterId: "c" } };
    const found = await service.estimate(requestOf({ models: [gone, away] }));
    expect(found.ok && found.estimate.problems).toEqual([
      "none is not connected: attach it, or ask qwen2.5-32b at a URL.",
      "No engine of qwen2.5-7b runs on c, and its judge has another name: apply a plan that has qwen2.5-7b, attach an engine of it, or ask it at a URL.",
      '"right" needs reference answers, and no prompt of "prompts of a test" has one: upload prompts with a field reference, or choose a rubric.',
    ]);
    expect(await service.start(requestOf({ models: [gone] }), "ann")).toEqual({
      ok: false,
      message: "none is not connected: attach it, or ask qwen2.5-32b at a URL.",
    });
    store.prompts.deleteTexts("set");
    expect(await service.start(requestOf(), "ann")).toMatchObject({
      ok: false,
      message: expect.stringMatching(/were deleted: take another sample/),
    });
    await server.down();
    const unanswered = await service.estimate(requestOf());
    expect(unanswered.ok && unanswered.estimate.problems).toHaveLength(1);
  });

  it("give a load on their cluster the questions they asked, and the quality of what is answered", async () => {
    keepPrompts(store, prompts(40));
    const here = (model: string) => ({ ...at(model), at: { kind: "cluster", clusterId: "c" } });
    const begun = await service.start(requestOf({ models: [here("qwen2.5-3b")] }), "ann");
    if (!begun.ok) throw new Error(begun.message);
    await done(begun.id);
    const made = await service.toWorkload(workloadOf(begun.id), "ann");
    if (!made.ok) throw new Error(made.message);
    const [workloadId = ""] = made.ids;
    const workload = loadWorkload(store, workloadId)!;
    const of = (clusterId: string) => profiledRequests({ store, workloadId, workload, clusterId });
    const row = workload.outcomes.promptIds.indexOf("p6");
    const requests = of("c")!;
    expect(requests.body(row)).toEqual({ messages: [{ role: "user", content: `question ${"x".repeat(6)}` }], max_tokens: 100 });
    expect([requests.qualityOf(row, "so it is 4"), requests.qualityOf(row, "5")]).toEqual([100, 0]);
    // Texts go nowhere else, and nowhere once they are deleted.
    expect(of("another")).toBeNull();
    store.prompts.deleteTexts("set");
    expect(of("c")).toBeNull();
  });

  it("asked at addresses give a load their questions on the cluster for which Weir suggests their workload, and on no other", async () => {
    keepPrompts(store, prompts(40));
    const workloadOfUrl = async () => {
      const begun = await service.start(requestOf({ models: [at("qwen2.5-3b")] }), "weir");
      if (!begun.ok) throw new Error(begun.message);
      await done(begun.id);
      const made = await service.toWorkload(workloadOf(begun.id), "weir");
      if (!made.ok) throw new Error(made.message);
      return made.ids[0] ?? "";
    };
    const workloadId = await workloadOfUrl();
    say = () => ({ text: "50" });
    const otherId = await workloadOfUrl();
    for (const id of ["own", "another"]) store.clusters.insert(clusterNamed(id), "2026-01-01T00:00:00.000Z");
    const workload = loadWorkload(store, workloadId)!;
    const of = (clusterId: string) => profiledRequests({ store, workloadId, workload, clusterId });
    expect([of("own"), of("another"), of("nowhere")]).toEqual([null, null, null]);
    store.clusters.suggest("own", { workloadId, requestsPerSecond: 1, qualityFloor: 50 });
    store.clusters.suggest("another", { workloadId: otherId, requestsPerSecond: 1, qualityFloor: 50 });
    const row = workload.outcomes.promptIds.indexOf("p6");
    expect(of("own")?.body(row)).toMatchObject({ messages: [{ role: "user", content: `question ${"x".repeat(6)}` }] });
    expect([of("own")?.qualityOf(row, "so it is 4"), of("own")?.qualityOf(row, "5")]).toEqual([100, 0]);
    expect([of("another"), of("nowhere")]).toEqual([null, null]);
    store.prompts.deleteTexts("set");
    expect(of("own")).toBeNull();
  });

  it("become workloads, one for each segment of the day, that name the job they are of", async () => {
    keepPrompts(store, prompts(40));
    const begun = await service.start(requestOf(), "ann");
    if (!begun.ok) throw new Error(begun.message);
    await done(begun.id);
    const job = service.get(begun.id);
    expect(job).toMatchObject({
      total: { planned: 240, done: 240, failed: 0, inFlight: 0 },
      askedAgain: 0,
      prompts: 40,
      hasAnswers: false,
      etaSeconds: null,
    });
    expect(job?.measures[1]).toMatchObject({ id: "right", done: 80, meanScore: 50, usd: 0 });
    expect(job?.spentUsd).toBeGreaterThan(0);
    expect(await service.toWorkload(workloadOf(begun.id, { label: "gate" }), "ann")).toMatchObject({ ok: false });
    const hours = Array.from({ length: 24 }, (_, hour) => (hour < 12 ? 0.05 : 0.01));
    const segments = [
      { name: "day", fromHour: 0, toHour: 12 },
      { name: "night", fromHour: 12, toHour: 24 },
    ];
    const made = await service.toWorkload(workloadOf(begun.id, { arrivals: { kind: "hours", requestsPerSecond: hours }, segments }), "ann");
    if (!made.ok) throw new Error(made.message);
    expect(made.leftOut).toBe(0);
    const workloads = made.ids.map((id) => loadWorkload(store, id));
    expect(workloads.map((workload) => workload?.name)).toEqual(["measured, day", "measured, night"]);
    expect(workloads[0]?.judge).toEqual({ kind: "measured" });
    const measures = { gate: { id: "gate", name: "gate" }, label: { id: "right", name: "right" } };
    expect(store.workloads.summary(made.ids[0] ?? "")?.measured).toEqual({ emulated: false, ...measures });
    expect([...(workloads[0]?.outcomes.models[0]?.label ?? [])].slice(0, 4)).toEqual([100, 0, 100, 0]);
    expect(store.workloads.summary(made.ids[0] ?? "")?.profileId).toBe(begun.id);
    expect(service.get(begun.id)?.workloadIds).toHaveLength(2);
    expect(service.list()).toHaveLength(1);
  });

  it("become workloads beside what the studio does meanwhile, however many answers they have", async () => {
    const ladder = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b"];
    const set = keepPrompts(store, prompts(2_000));
    const id = keepProfile(store, set, requestOf({ models: ladder.map(at) }));
    for (let from = 0; from < 2_000; from += 200) {
      const calls = Array.from({ length: 200 }, (_, place) => from + place).flatMap((position) =>
        ladder.flatMap((model) =>
          ["", "gate", "right"].map((measureId) => ({
            ...{ profileId: id, position, model, measureId, reading: 0, state: "done" as const, attempts: 1, usd: 0 },
            ...{ at: "2026-01-01T00:00:00.000Z", inputTokens: 10, outputTokens: 20 + position, score: position % 100 },
          })),
        ),
      );
      store.profiles.saveCalls(id, calls);
    }
    store.profiles.setState(id, "done", null);
    let [isOver, longest, last] = [false, 0, performance.now()];
    const begun = last;
    const turns = (async () => {
      while (!isOver) {
        await new Promise((next) => setImmediate(next));
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }
    })();
    const made = await service.toWorkload(workloadOf(id), "ann");
    const took = performance.now() - begun;
    isOver = true;
    await turns;
    if (!made.ok) throw new Error(made.message);
    const [outcomes] = made.ids.map((one) => loadWorkload(store, one)?.outcomes);
    expect(outcomes?.promptIds).toHaveLength(2_000);
    expect(outcomes?.models.map(({ outputTokens, label, judged }) => [outputTokens[1_234], label[1_234], judged[1_234]])).toEqual(
      ladder.map(() => [1_254, 34, 34]),
    );
    expect(longest).toBeLessThan(took / 3);
  });

  it("give measured runs of engines whose hardware is known, which calibration reads", async () => {
    keepPrompts(store, prompts(120));
    // Calibration ignores an engine that writes a token in less than 0.01 ms.
    const instantly = say;
    say = (request) => ({ ...(instantly(request) as Extract<Said, { text: string; delayMs?: number }>), decodeMs: 2 });
    const begun = await service.start(requestOf(), "ann");
    if (!begun.ok) throw new Error(begun.message);
    await done(begun.id);
    const runs = await service.toMeasuredRuns(begun.id);
    if (!runs.ok) throw new Error(runs.message);
    const source = uploads.open(runs.uploadId);
    if (source === null) throw new Error("the upload is gone");
    const rows = await importServingRows(source, catalogueOf(noUserCards));
    if (!rows.ok) throw new Error(rows.message);
    // The number of answers at each load depends on the machine; a hundred give twenty of some load.
    expect(rows.rows.length).toBeGreaterThan(0);
    expect(rows).toMatchObject({ bad: [], unsupported: [] });
    for (const row of rows.rows)
      expect(row).toMatchObject({ model: "qwen2.5-3b", gpu: "l40s", engine: "vllm", origin: "live", outputTokens: 15 });
    // The engine was moved to other GPUs since.
    knownSinceMs = Date.now() + 60_000;
    const stale = await service.toMeasuredRuns(begun.id);
    knownSinceMs = 0;
    expect(stale).toMatchObject({ ok: false, message: expect.stringContaining("120 answers are older than what is known of the engines") });
    const elsewhere = await service.start(requestOf({ name: "other", models: [at("qwen2.5-7b")] }), "ann");
    expect(elsewhere.ok && (await service.toMeasuredRuns(elsewhere.id))).toMatchObject({
      ok: false,
      message: expect.stringContaining("hardware behind an address is not known"),
    });
  });

  it("go on by themselves after a restart where they ran, stay where they were paused, and end where they are stopped", async () => {
    keepPrompts(store, prompts(60));
    const [one, two, three] = await Promise.all(["one", "two", "three"].map((name) => service.start(requestOf({ name }), "ann")));
    if (!one?.ok || !two?.ok || !three?.ok) throw new Error("not started");
    expect(service.pause(two.id, "ann")).toEqual({ ok: true });
    expect(service.pause(two.id, "ann")).toEqual({ ok: false, message: '"two" is paused, so it cannot be paused.' });
    expect(service.stop(three.id, "ann")).toEqual({ ok: true });
    expect(service.resume(three.id, undefined, "ann")).toEqual({ ok: false, message: '"three" is stopped.' });
    await service.close();
    expect(store.profiles.get(one.id)?.state).toBe("running");
    service = started();
    await done(one.id);
    expect(service.get(one.id)).toMatchObject({ total: { planned: 360, done: 360 }, askedAgain: 0 });
    expect(service.get(two.id)).toMatchObject({ state: "paused", pause: { kind: "operator", reason: "Paused by ann." } });
    expect(service.resume(two.id, 0.000001, "ann")).toEqual({ ok: true });
    await until(() => service.get(two.id)?.pause?.kind === "cap");
    expect(service.get(two.id)?.request.capUsd).toBe(0.000001);
    expect(service.resume(two.id, null, "ann")).toEqual({ ok: true });
    await done(two.id);
    expect(service.get(two.id)?.request.capUsd).toBeNull();
    const actions = store.audit.list(20).map(({ action, subject }) => `${action} ${subject}`);
    expect(actions).toEqual(expect.arrayContaining(["start profile one", "pause profile two", "resume profile two", "stop profile three"]));
  });
});
