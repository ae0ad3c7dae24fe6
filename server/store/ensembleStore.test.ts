import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import { decodeSample, encodeSample } from "./answerSampleCodec";
import { openStore, type Store } from "./store";

const ensemble = (name: string, tau = 1) =>
  ensembleSchema.parse({
    ...{ name, tau, experts: ["a", "b"], expertsPerQuestion: 2, quorum: 2, deadlineSeconds: 60 },
    ...{ extraction: { kind: "choice" }, confidence: { kind: "plurality" }, aggregator: { model: "c" } },
  });
const by = (at: number) => ({ createdAt: new Date(at).toISOString(), actor: "ada" });

let folder = "";
let store: Store;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-ensemble-store-"));
  store = openStore(folder);
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

it("counts versions of an ensemble by name, holds the newest, and goes on counting where one was removed", () => {
  const { ensembles } = store;
  expect(ensembles.everKept()).toBe(false);
  const put = (document: ReturnType<typeof ensemble>, at: number) => ensembles.put({ ensemble: document, ...by(at) });
  expect([put(ensemble("vote"), 1), put(ensemble("panel"), 2), put(ensemble("vote", 0.5), 3)]).toEqual([1, 1, 2]);
  expect(ensembles.list().map(({ ensemble: { name, tau }, version, actor }) => [name, tau, version, actor])).toEqual([
    ["panel", 1, 1, "ada"],
    ["vote", 0.5, 2, "ada"],
  ]);
  expect([ensembles.remove("vote", by(4)), ensembles.remove("vote", by(5)), ensembles.find("vote"), ensembles.find("never")]).toEqual([
    true,
    false,
    null,
    null,
  ]);
  expect(ensembles.list().map(({ ensemble: { name } }) => name)).toEqual(["panel"]);
  expect(put(ensemble("vote", 0.7), 6)).toBe(4);
  expect(ensembles.find("vote")).toMatchObject({ version: 4, ensemble: { tau: 0.7 } });
  ensembles.remove("vote", by(7));
  ensembles.remove("panel", by(8));
  expect([ensembles.list(), ensembles.everKept()]).toEqual([[], true]);
});

const sampleArbitrary: fc.Arbitrary<AnswerSample> = fc.integer({ min: 1, max: 20 }).chain((questions) => {
  const column = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { minLength: questions, maxLength: questions });
  const bits = column(fc.integer({ min: 0, max: 1 })).map((values) => Uint8Array.from(values));
  const model = fc.record({
    model: fc.string({ minLength: 1 }),
    answers: column(fc.option(fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("A", "1", "-1", "__proto__")), { nil: null })),
    correct: bits,
    outputTokens: column(fc.integer({ min: 0, max: 100_000 })).map((values) => Int32Array.from(values)),
    asked: bits,
  });
  const base = { questionIds: column(fc.string({ unit: "grapheme" })), models: fc.array(model, { maxLength: 4 }) };
  return fc.oneof(fc.record(base), fc.record({ ...base, categories: column(fc.string({ unit: "grapheme" })) }));
});

it("reads every sample back as it was written", () => {
  fc.assert(
    fc.property(sampleArbitrary, (sample) => {
      expect(decodeSample(encodeSample(sample))).toEqual(sample);
    }),
  );
});

it("keeps samples of answers with what lists tell of them, newest first, until they are removed", () => {
  const sample: AnswerSample = {
    questionIds: ["q1", "q2"],
    models: [
      { model: "a", answers: ["A", null], correct: Uint8Array.of(1, 0), outputTokens: Int32Array.of(3, 4), asked: Uint8Array.of(1, 1) },
    ],
  };
  const summary = (id: string, at: number) =>
    ({ id, name: id, questions: 2, models: [], categories: [], origin: "uploaded", notes: [], ...by(at) }) as const;
  store.answerSamples.insert(summary("old", 1), sample);
  store.answerSamples.insert(summary("new", 2), sample);
  expect(store.answerSamples.list().map(({ id }) => id)).toEqual(["new", "old"]);
  expect(store.answerSamples.stored("old")).toMatchObject({ summary: summary("old", 1), data: encodeSample(sample) });
  expect([store.answerSamples.remove("old"), store.answerSamples.remove("old"), store.answerSamples.stored("old")]).toEqual([
    true,
    false,
    null,
  ]);
});

describe("measured sessions", () => {
  const row = (change: Partial<SessionRow> = {}): SessionRow => ({
    ...{ model: "a", gpu: "l40s", tp: 1, prompts: 1, concurrency: 64, meanOutputTokens: 10, maxOutputTokens: 20, seconds: 5 },
    ...{ loadSeconds: null, origin: "measured", ...change },
  });
  const clear = () => {
    for (const group of store.sessionRows.groups()) store.sessionRows.remove(group);
  };

  it("are given of some models on one type of GPU, newest first", () => {
    for (const one of [row(), row({ gpu: "h100-sxm" }), row({ prompts: 3 }), row({ model: "b" })]) store.sessionRows.add(one);
    expect(store.sessionRows.list("l40s", ["a", "c"])).toEqual([row({ prompts: 3 }), row()]);
    expect(store.sessionRows.list("l40s", ["a", "b"])).toEqual([row({ model: "b" }), row({ prompts: 3 }), row()]);
    expect([store.sessionRows.list("nothing", ["a"]), store.sessionRows.list("l40s", [])]).toEqual([[], []]);
  });

  it("are not hidden by many newer ones of other models, on other numbers of GPUs or of emulated engines", () => {
    clear();
    const many = (change: Partial<SessionRow>) => Array.from({ length: 2_500 }, (_, at) => row({ prompts: at + 2, ...change }));
    store.sessionRows.addAll([row(), ...many({ model: "b" }), ...many({ tp: 2 }), ...many({ origin: "emulated" })]);
    const listed = store.sessionRows.list("l40s", ["a"]);
    expect(listed).toHaveLength(1 + 500 + 500);
    expect(listed.at(-1)).toEqual(row());
    expect(listed[0]).toEqual(row({ prompts: 2_501, origin: "emulated" }));
  });

  it("come all at once as they come one by one, and the oldest beyond twenty thousand go, emulated ones first", () => {
    clear();
    const odd = row({ model: 'né "x"', meanOutputTokens: 0.1 + 0.2, loadSeconds: 1e-7 });
    store.sessionRows.addAll([row(), odd]);
    store.sessionRows.addAll([]);
    expect(store.sessionRows.list("l40s", ["a", 'né "x"'])).toEqual([odd, row()]);
    store.sessionRows.remove({ model: "a", gpu: "l40s", gpus: 1 });
    store.sessionRows.addAll(Array.from({ length: 20_000 }, (_, at) => row({ prompts: at + 1 })));
    expect(store.sessionRows.groups()).toMatchObject([{ model: "a", sessions: 20_000, fewestPrompts: 1, mostPrompts: 20_000 }]);
    store.sessionRows.add(row({ gpu: "h100-sxm" }));
    expect(store.sessionRows.groups().map(({ gpu, sessions, fewestPrompts }) => [gpu, sessions, fewestPrompts])).toEqual([
      ["h100-sxm", 1, 1],
      ["l40s", 19_999, 2],
    ]);
    store.sessionRows.addAll([1, 2, 3].map((prompts) => row({ gpu: "b200", prompts, origin: "emulated" })));
    expect(store.sessionRows.list("b200", ["a"])).toEqual([]);
    store.sessionRows.remove({ model: "a", gpu: "h100-sxm", gpus: 1 });
    store.sessionRows.addAll([1, 2].map((prompts) => row({ gpu: "b200", prompts, origin: "emulated" })));
    expect(store.sessionRows.list("b200", ["a"]).map(({ prompts }) => prompts)).toEqual([2]);
    store.sessionRows.add(row());
    expect(store.sessionRows.groups().map(({ gpu, sessions }) => [gpu, sessions])).toEqual([["l40s", 20_000]]);
  });

  it("are told by model and kind of engine, loads alone apart, and go by these", () => {
    clear();
    store.sessionRows.addAll([
      row({ prompts: 10, seconds: 4, meanOutputTokens: 100, maxOutputTokens: 300 }),
      row({ prompts: 30, seconds: 8, meanOutputTokens: 200, maxOutputTokens: 900, loadSeconds: 20, origin: "emulated" }),
      row({ prompts: 0, seconds: 0, meanOutputTokens: 0, maxOutputTokens: 0, loadSeconds: 40 }),
      row({ tp: 2, prompts: 0, seconds: 0, loadSeconds: 60 }),
    ]);
    const [one, two, ...none] = store.sessionRows.groups();
    expect(none).toEqual([]);
    expect(one).toEqual({
      ...{ model: "a", gpu: "l40s", gpus: 1, rows: 3, sessions: 2, emulated: 1, loads: 2, fewestPrompts: 10, mostPrompts: 30 },
      ...{ meanOutputTokens: 150, maxOutputTokens: 900, leastSeconds: 4, mostSeconds: 8, meanLoadSeconds: 30 },
      latestAt: expect.stringMatching(/^\d{4}-/),
    });
    expect(two).toMatchObject({ gpus: 2, sessions: 0, loads: 1, fewestPrompts: null, mostSeconds: null, meanLoadSeconds: 60 });
    expect(store.sessionRows.remove({ model: "a", gpu: "l40s", gpus: 1 })).toBe(3);
    expect(store.sessionRows.remove({ model: "a", gpu: "l40s", gpus: 1 })).toBe(0);
    expect(store.sessionRows.groups()).toEqual([two]);
  });
});
