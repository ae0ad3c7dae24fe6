import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { ProfileRequest, PromptSet } from "@/server/contracts/studio";
import type { Measure } from "@/server/contracts/studio/profile";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { testDecisions } from "@/server/proposals/testing/testDecisions";
import type { NewCall } from "@/server/store/profileRepository";
import { openStore, type Store } from "@/server/store/store";
import { aucOf } from "@/solver/judging/concordance";
import { mixSeed } from "@/solver/numeric/random";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { generatedWorkload } from "@/solver/workload/generated";
import { modelledScores } from "@/solver/workload/judgeModel";
import { createTrustService } from "./trustService";

const PROMPTS = 120;
const { models } = generatedWorkload({ prompts: PROMPTS, seed: 5 }).outcomes;
const [smallest] = models.map(({ model }) => model);
const at = { kind: "url", url: "http://engine.test" } as const;
const price = { usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 };
const judge = (model: string) => ({ model, at, ...price });
const gate: Measure = { id: "gate", name: "Gate", kind: "rubric", judge: judge("small-judge"), rubric: null, repeats: 2 };
const coin: Measure = { ...gate, id: "coin", name: "Coin", judge: judge("coin-judge"), repeats: 1 };
const trusted: Measure = { ...coin, id: "trusted", name: "Trusted", judge: judge("trusted-judge") };
const against = models.at(-1)!.model;
const pairwise: Measure = { ...coin, id: "pairs", name: "Pairs", kind: "pairwise", against, swap: true };
const labelOf = (position: number, model: string): number => models.find((column) => column.model === model)!.label[position]!;
/** An answer as tagged by an engine of the emulated cluster, and as it is shown. */
const answerOf = (position: number, model: string): string => `[emulated answer p${position} by ${model}] ${mixSeed(position, model)}`;
const shownOf = (position: number, model: string): string => answerOf(position, "[model]").replace(/\d+$/, `${mixSeed(position, model)}`);
/** The test recognises answers only by their text, as a person would. */
const known = new Map(
  models.flatMap(({ model }) => Array.from({ length: PROMPTS }, (_, position) => [shownOf(position, model), { position, model }] as const)),
);

const request: ProfileRequest = {
  name: "Ours",
  promptSetId: "set",
  models: models.map(({ model }) => judge(model)),
  measures: [gate, coin, trusted, pairwise],
  concurrency: 4,
  requestsPerMinute: null,
  capUsd: null,
  maxOutputTokens: 100,
  keepAnswers: true,
  gates: { confidence: false, samples: null },
};
const set: Omit<PromptSet, "deleted"> = {
  ...{
    id: "set",
    name: "Set",
    createdAt: "2026-01-01T00:00:00.000Z",
    actor: "a",
    from: "file",
    population: PROMPTS,
    prompts: PROMPTS,
    skipped: 0,
  },
  ...{
    strata: [],
    interval: { confidence: 0.9, points: 5 },
    meanCharacters: 10,
    withReference: 0,
    withTest: 0,
    multiTurn: 0,
    withTools: 0,
  },
  expiresAt: null,
};

let template: string;
let folder: string;
let store: Store;
beforeAll(() => {
  template = mkdtempSync(join(tmpdir(), "weir-trust-"));
  store = openStore(template);
  const texts = Array.from({ length: PROMPTS }, (_, position) => ({
    ...{ id: `p${position}`, category: "", atMs: null, reference: null, test: null },
    body: { messages: [{ role: "user", content: `question ${position}` }] },
  }));
  store.prompts.insert(set, texts);
  insert("job", request);
  store.profiles.saveCalls("job", calls("job"));
  store.close();
});
afterAll(() => rmSync(template, { recursive: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-trust-"));
  cpSync(template, folder, { recursive: true });
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

function insert(id: string, asked: ProfileRequest): void {
  store.profiles.insert({
    ...{ id, createdAt: set.createdAt, actor: "a", promptSetId: "set" },
    request: asked,
    state: "done",
    pause: null,
  });
}

function calls(profileId: string): NewCall[] {
  const label = Float64Array.from(models.flatMap((column) => Array.from(column.label)));
  const scoresOf = {
    gate: modelledScores(label, { auc: 0.8, seed: 1 }),
    coin: modelledScores(label, { auc: 0.5, seed: 2 }),
    trusted: label,
  };
  return models.flatMap(({ model }, column) =>
    Array.from({ length: PROMPTS }, (_, position): NewCall[] => {
      const call = {
        profileId,
        position,
        model,
        state: "done",
        attempts: 1,
        at: set.createdAt,
        usd: 0.001,
        inputTokens: 1,
        outputTokens: 1,
      } as const;
      const read = (measureId: string, reading: number, score: number): NewCall => ({ ...call, measureId, reading, score });
      const [own, other] = [labelOf(position, model), labelOf(position, against)];
      const won = model === against || own === other ? 50 : own > other ? 100 : 0;
      const row = column * PROMPTS + position;
      return [
        { ...call, measureId: "", reading: 0, answer: answerOf(position, model) },
        ...Object.entries(scoresOf).map(([id, scores]) => read(id, 0, scores[row]!)),
        read("gate", 1, Math.min(100, scoresOf.gate[row]! + (position % 2) * 4)),
        read("pairs", 0, won),
        // The first shown is preferred on every other prompt if neither is better.
        read("pairs", 1, won === 50 && model !== against && position % 2 === 0 ? 0 : won),
      ];
    }).flat(),
  );
}

const service = () => createTrustService({ store, decisionsOf: () => [] });

/** Labels by the table, recognising answers only by their texts. */
function label(kind: "one" | "two", times: number, actor = "ada"): void {
  const queue = service();
  for (let done = 0; done < times; done += 1) {
    const next = queue.next("job", kind, actor);
    if (!next.ok || next.progress.task === null) throw new Error("Nothing to label");
    const { index, answers } = next.progress.task;
    const [first, second] = answers.map((text) => known.get(text)!);
    const quality = labelOf(first!.position, first!.model);
    const than = second === undefined ? quality : labelOf(second.position, second.model);
    expect(queue.label({ jobId: "job", kind, index, quality: kind === "one" ? quality : 50 + (quality - than) / 2 }, actor)).toEqual({
      ok: true,
    });
  }
}

function report(floor = 80) {
  const outcome = service().report("job", floor);
  if (!outcome.ok) throw new Error(outcome.message);
  return { ...outcome.trust, of: (id: string) => outcome.trust.measures.find(({ measureId }) => measureId === id)! };
}

test("tasks come in an order of the job's own, without the model's name, one after the other and the next one beside", () => {
  const first = service().next("job", "one", "ada");
  if (!first.ok || first.progress.task === null) throw new Error("Nothing to label");
  const { task, after, labelled, advised } = first.progress;
  expect({ labelled, advised }).toEqual({ labelled: 0, advised: 50 });
  expect(task.messages).toEqual([{ role: "user", text: `question ${known.get(task.answers[0]!)!.position}` }]);
  for (const { model } of models) expect(JSON.stringify(first)).not.toContain(model);
  label("one", 1);
  const second = service().next("job", "one", "ada");
  expect(second).toMatchObject({ ok: true, progress: { task: after, labelled: 1 } });
  expect(service().next("job", "two", "ada")).toMatchObject({
    ok: true,
    progress: { labelled: 0, task: { answers: [expect.any(String), expect.any(String)] } },
  });
});

test("a person takes back their own last label, and it comes up again", () => {
  const before = service().next("job", "one", "ada");
  label("one", 1);
  label("one", 2, "bob");
  expect(service().undo("job", "one", "ada")).toEqual({ ok: true });
  expect(service().next("job", "one", "ada")).toMatchObject({ progress: { task: before.ok && before.progress.task, labelled: 2 } });
  expect(service().undo("job", "one", "ada")).toEqual({ ok: false, message: "There is no label of yours to take back." });
  expect(service().undo("job", "two", "bob")).toMatchObject({ ok: false });
});

test("two people at once are given different answers, and neither takes the other's label away", () => {
  const queue = service();
  const given = (actor: string) => {
    const next = queue.next("job", "one", actor);
    if (!next.ok || next.progress.task === null || next.progress.after === null) throw new Error("Nothing to label");
    return [next.progress.task.index, next.progress.after.index];
  };
  const [ada, bob] = [given("ada"), given("bob")];
  expect(new Set([...ada, ...bob]).size).toBe(4);
  expect(given("ada")).toEqual(ada);
  const order = { jobId: "job", kind: "one", index: ada[0]! } as const;
  expect(queue.label({ ...order, quality: 100 }, "ada")).toEqual({ ok: true });
  expect(queue.label({ ...order, quality: 0 }, "bob")).toEqual({
    ok: false,
    message: "ada labelled this answer first. Their label is kept.",
  });
  expect(queue.label({ ...order, quality: 25 }, "ada")).toEqual({ ok: true });
  const [stored] = store.handLabels.list("job");
  expect(stored).toMatchObject({ actor: "ada", quality: 25 });
  expect(queue.undo("job", "one", "ada")).toEqual({ ok: true });
  const about = { actor: "ada", subject: "Ours", objectKind: "profile", objectId: "job", outcome: "done" };
  const detail = (quality: number) => `1 of ${stored?.model}: ${quality} at prompt ${(stored?.position ?? 0) + 1}`;
  expect(store.audit.list(3)).toMatchObject([
    { ...about, action: "take back label", detail: detail(25) },
    { ...about, action: "label answer", detail: detail(25) },
    { ...about, action: "label answer", detail: detail(100) },
  ]);
});

test("what a person skips stores nothing and does not come up for them again in this sitting, though it does for others", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const queue = service();
    const given = (actor: string) => {
      const next = queue.next("job", "one", actor);
      if (!next.ok || next.progress.task === null || next.progress.after === null) throw new Error("Nothing to label");
      return { ...next.progress, task: next.progress.task, after: next.progress.after };
    };
    const order = (index: number) => ({ jobId: "job", kind: "one", index }) as const;
    const { task, after } = given("ada");
    // Both are sent before the next tasks are requested, as by a fast user.
    expect(queue.label({ ...order(task.index), quality: 75 }, "ada")).toEqual({ ok: true });
    expect(queue.skip(order(after.index), "ada")).toEqual({ ok: true });
    expect(store.handLabels.list("job")).toHaveLength(1);
    const following = given("ada");
    expect(following).toMatchObject({ labelled: 1, skipped: 1 });
    expect([task.index, after.index]).not.toContain(following.task.index);
    expect(given("bob").task.index).toBe(after.index);
    expect(queue.undo("job", "one", "ada")).toEqual({ ok: true });
    expect(store.handLabels.list("job")).toEqual([]);
    expect(given("ada")).toMatchObject({ task: { index: task.index }, after: { index: following.task.index }, skipped: 1 });
    vi.setSystemTime(Date.now() + 5 * 3_600_000);
    expect(given("ada")).toMatchObject({ task: { index: task.index }, after: { index: after.index }, skipped: 0 });
    expect(queue.skip(order(9999), "ada")).toMatchObject({ ok: false });
  } finally {
    vi.useRealTimers();
  }
});

test("50 labels tell the true reliability of each judge within its interval, what it cost and how noisy it is", () => {
  label("one", 50);
  const trust = report();
  expect(trust.labels).toBe(50);
  const truth = (id: string) =>
    aucOf(
      store.profiles
        .readings("job", id)
        .filter(({ reading }) => reading === 0)
        .map(({ position, model, score }) => ({ score: score!, label: labelOf(position, model) })),
    )!.value;
  for (const id of ["gate", "coin", "trusted"]) {
    const { auc, labels, usd } = trust.of(id);
    expect(labels).toBe(50);
    expect(auc!.low).toBeLessThanOrEqual(truth(id));
    expect(auc!.high).toBeGreaterThanOrEqual(truth(id));
    expect(usd).toBeCloseTo((id === "gate" ? 2 : 1) * models.length * PROMPTS * 0.001, 6);
  }
  expect(trust.of("trusted").agreement).toMatchObject({ value: 1 });
  expect(trust.of("trusted").calibration.map(({ from, to }) => [from, to])).toEqual([
    [0, 19],
    [80, 100],
  ]);
  // Readings of every other answer differ by 4.
  expect(trust.of("gate").noisePoints).toBeGreaterThan(1.7);
  expect(trust.of("gate").noisePoints).toBeLessThan(2.1);
  expect(trust.of("coin").noisePoints).toBeNull();
});

test("a coin is warned of, a good judge is not, and without labels nobody can tell", () => {
  expect(report().of("gate").warning).toContain("Nobody has labelled what it scored");
  expect(report().of("gate").auc).toBeNull();
  label("one", 50);
  const [largest] = [models.at(-1)!].map(({ label: column }) => column.reduce((sum, each) => sum + each, 0) / PROMPTS);
  const floor = Math.floor(largest! - 4);
  expect(report(floor).of("coin").warning).toMatch(/too weak for a floor of \d+/);
  expect(report(floor).of("gate").warning).toBeNull();
  expect(report(1).of("coin").warning).toBeNull();
  expect(report(100).of("gate").warning).toContain("No cascade of these models holds a floor of 100");
});

test("two answers compared tell of the measure that compares, and of the others where there are more of them", () => {
  label("two", 30);
  const trust = report();
  const pairs = trust.of("pairs");
  expect(pairs.labels).toBe(30);
  expect(pairs.auc).toMatchObject({ value: 1 });
  expect(pairs.agreement!.value).toBeGreaterThan(0.5);
  const asked = models.slice(0, -1).flatMap(({ model }) => Array.from({ length: PROMPTS }, (_, position) => [position, model] as const));
  const flipped = asked.filter(([position, model]) => position % 2 === 0 && labelOf(position, model) === labelOf(position, against));
  expect(pairs.orderFlips).toBeCloseTo(flipped.length / asked.length, 9);
  // Pairs compare two models: they say nothing about its order of answers of one model.
  expect(trust.of("trusted").auc).toBeNull();
  expect(trust.of("trusted").aucByModel).toEqual([]);
  expect(trust.of("trusted").agreement).toBeNull();
  label("one", 40);
  const alone = report().of("trusted").aucByModel;
  expect(new Set(alone.map(({ model }) => model))).toEqual(new Set(models.map(({ model }) => model)));
  expect(alone.reduce((sum, { labels }) => sum + labels, 0)).toBe(40);
  expect(report().of("trusted").labels).toBe(70);
  expect(report().of("pairs").labels).toBe(30);
});

test("what cannot be labelled says why", () => {
  insert("bare", { ...request, keepAnswers: false });
  insert("single", { ...request, models: request.models.slice(0, 1), measures: [coin] });
  expect(service().next("none", "one", "ada")).toEqual({ ok: false, message: "There is no profile none." });
  expect(service().next("bare", "one", "ada")).toMatchObject({ ok: false, message: expect.stringContaining("kept no answers") });
  expect(service().next("single", "two", "ada")).toMatchObject({ ok: false, message: expect.stringContaining("Label single answers") });
  expect(service().next("single", "one", "ada")).toMatchObject({ ok: true, progress: { task: null } });
  expect(service().label({ jobId: "job", kind: "one", index: 9999, quality: 50 }, "ada")).toMatchObject({ ok: false });
  label("one", 3);
  store.profiles.dropAnswersOf("set");
  store.prompts.deleteTexts("set");
  expect(service().next("job", "one", "ada")).toMatchObject({ ok: false, message: expect.stringContaining("deleted") });
  expect(report().labels).toBe(3);
});

test("a job that has just begun offers the few answers that there are", () => {
  insert("begun", request);
  store.profiles.saveCalls(
    "begun",
    calls("begun").filter(({ position, measureId }) => measureId === "" && position === 7),
  );
  const next = service().next("begun", "one", "ada");
  expect(next.ok && next.progress.task?.messages).toEqual([{ role: "user", text: "question 7" }]);
  expect(next.ok && next.progress.after).not.toBeNull();
});

test("scores that moved at a gateway since the labels ask for fresh ones", () => {
  const spec = { id: "c", name: "Our cluster", kind: "described" as const, gpu: "l40s", nodes: [{ name: "n", gpus: 4 }], usdPerGpuHour: 1 };
  store.clusters.insert(spec, set.createdAt);
  const draft = examplePlanDraft();
  if (draft.policy.kind !== "cascade") throw new Error("The example is a cascade");
  const policy = {
    ...draft.policy,
    stages: [{ model: smallest! }, { model: against }],
    judge: { ...draft.policy.judge, model: "small-judge" },
  };
  const plan = sealPlan({ ...draft, policy }, new Date(set.createdAt));
  store.plans.keep(plan);
  const workload = generatedWorkload({ prompts: 3000, seed: 6 });
  // The gateway's judge scores recent prompts as the profile's did.
  const quality = Float64Array.from(workload.outcomes.models.flatMap((column) => Array.from(column.label)));
  const scores = modelledScores(quality, { auc: 0.8, seed: 9 });
  const columns = workload.outcomes.models.map((column, place) => ({ ...column, judged: scores.slice(place * 3000, (place + 1) * 3000) }));
  const fresh = { ...workload, outcomes: { ...workload.outcomes, models: columns } };
  const asked = (startMs: number, lower: number) => {
    const decisions = testDecisions(
      { plan, workload: fresh, timeScale: 1, startMs },
      { fromSeconds: 0, seconds: 300 },
      { rate: 2, lower },
    ).reverse();
    const trust = createTrustService({ store, decisionsOf: () => decisions }).report("job", 80);
    return trust.ok && trust.trust.recheck;
  };
  const later = Date.now() + 1000;
  expect(asked(later, 15)).toBeNull();
  label("one", 5);
  expect(asked(later, 15)).toMatch(
    /^Gate scored answers of \S+ \d+ in the mean when they were labelled, and \d+ lately at Our cluster: label/,
  );
  expect(asked(later, 0)).toBeNull();
  // Before the labels were given.
  expect(asked(later - 10_000_000, 15)).toBeNull();
});
