import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Measure } from "@/server/contracts/studio/profile";
import type { NewCall } from "@/server/store/profileRepository";
import { openStore, type Store } from "@/server/store/store";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { trustReport } from "./trustReport";

const PROMPTS = 200;
const createdAt = "2026-01-01T00:00:00.000Z";
const price = { usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 };
const at = { kind: "url", url: "http://engine.test" } as const;
const judged = (model: string) => ({ model, at, ...price });
const rubric = (id: string): Measure => ({ id, name: id, kind: "rubric", judge: judged(id), rubric: null, repeats: 1 });

/** Quality 0 or 100 of each model's answers, by prompt. */
type Truth = Readonly<Record<string, readonly number[]>>;
type Score = (position: number, model: string, quality: number) => number;

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-trust-report-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

function truthOf(shares: Readonly<Record<string, number>>): Truth {
  return Object.fromEntries(
    Object.entries(shares).map(([model, share]) => {
      const random = seededRandom(mixSeed("truth", model));
      return [model, Array.from({ length: PROMPTS }, () => (random.next() < share ? 100 : 0))];
    }),
  );
}

/** A finished profile whose measures scored every answer. */
function profiled(truth: Truth, scores: Readonly<Record<string, Score>>): void {
  const measures = Object.keys(scores).map(rubric);
  const request = {
    ...{ name: "Ours", promptSetId: "set", models: Object.keys(truth).map(judged), measures, concurrency: 1, requestsPerMinute: null },
    ...{ capUsd: null, maxOutputTokens: 10, keepAnswers: true, gates: { confidence: false, samples: null } },
  };
  const counts = { population: PROMPTS, prompts: PROMPTS, skipped: 0, meanCharacters: 1, withReference: 0, withTest: 0 };
  store.prompts.insert(
    {
      ...{ id: "set", name: "Set", createdAt, actor: "a", from: "file", strata: [], interval: { confidence: 0.9, points: 5 } },
      ...{ ...counts, multiTurn: 0, withTools: 0, expiresAt: null },
    },
    Array.from({ length: PROMPTS }, (_, position) => ({
      ...{ id: `p${position}`, category: "", atMs: null, reference: null, test: null },
      body: { messages: [{ role: "user", content: "?" }] },
    })),
  );
  store.profiles.insert({ id: "job", createdAt, actor: "a", promptSetId: "set", request, state: "done", pause: null });
  const calls = Object.entries(truth).flatMap(([model, qualities]) =>
    qualities.flatMap((quality, position) =>
      Object.entries(scores).map(([measureId, score]): NewCall => {
        const call = { profileId: "job", position, model, measureId, reading: 0, state: "done", attempts: 1, at: createdAt } as const;
        return { ...call, usd: 0, inputTokens: 1, outputTokens: 1, score: score(position, model, quality) };
      }),
    ),
  );
  store.profiles.saveCalls("job", calls);
}

function label(truth: Truth, answers: Iterable<{ readonly position: number; readonly model: string; readonly other?: string }>): void {
  for (const { position, model, other = "" } of answers) {
    const [own, than] = [truth[model]?.[position] ?? 0, truth[other]?.[position] ?? 0];
    const quality = other === "" ? own : 50 + (own - than) / 2;
    store.handLabels.save({ profileId: "job", position, model, otherModel: other, quality, actor: "ada", at: createdAt });
  }
}

function* both(from: number, to: number) {
  for (let position = from; position < to; position += 1) for (const model of ["small", "large"]) yield { position, model };
}

function warning(measureId: string, floor: number): string | null {
  const profile = store.profiles.get("job");
  if (profile === null) throw new Error("the profile was inserted");
  const found = trustReport(store, profile, floor).measures.find((one) => one.measureId === measureId);
  if (found === undefined) throw new Error("each measure is told of");
  return found.warning;
}

const coin: Score = (position, model) => mixSeed("coin", position, model) % 101;
const oracle: Score = (_, __, quality) => quality;

test("with two answers compared alone no judge is found fit, and it is said that single answers have to be labelled", () => {
  const truth = truthOf({ small: 0.5, large: 0.8 });
  profiled(truth, { coin });
  label(
    truth,
    Array.from({ length: 50 }, (_, position) => ({ position, model: "small", other: "large" })),
  );
  for (const floor of [50, 80, 90, 99]) expect(warning("coin", floor)).toContain("label single answers too");
});

test("few labels leave no judge fit: it is said that nobody can tell yet", () => {
  const truth = truthOf({ small: 0.5, large: 0.8 });
  profiled(truth, { coin, oracle });
  label(truth, [...both(0, 20)].filter(({ model }) => model === "small").slice(0, 7));
  for (const id of ["coin", "oracle"]) expect(warning(id, 60)).toContain("Nobody can tell yet whether it is fit for a floor of 60");
  label(truth, both(20, 45));
  expect(warning("oracle", 70)).toBeNull();
});

test("a profile of one model leaves no judge fit, whether a coin or not", () => {
  const truth = truthOf({ small: 0.5 });
  profiled(truth, { coin, oracle });
  label(
    truth,
    [...both(0, 50)].filter(({ model }) => model === "small"),
  );
  expect(warning("coin", 60)).toContain("no more often than a coin");
  expect(warning("oracle", 60)).toContain("This profile has one model");
});

test("a lenient judge that is no better than a coin is not taken for the truth that a coin is held against", () => {
  const truth = truthOf({ small: 0.3, large: 0.7 });
  profiled(truth, { coin, lenient: (position, model) => 85 + (mixSeed("lenient", position, model) % 15) });
  label(truth, both(0, 40));
  for (const floor of [50, 60, 70, 80, 85]) expect(warning("coin", floor)).not.toBeNull();
  expect(warning("coin", 85)).toMatch(/No cascade of these models.*no more often than a coin/);
});

test("a judge that orders rightly but gives everything its best is not taken for the truth either", () => {
  const truth = truthOf({ small: 0.3, large: 0.7 });
  profiled(truth, { coin, lenient: (_, __, quality) => 90 + quality / 20 });
  label(truth, both(0, 40));
  expect(warning("coin", 60)).not.toBeNull();
});

test("a judge that only knows whose answer it reads is warned of, as a coin at the gate of a model", () => {
  const truth = truthOf({ small: 0.35, large: 0.8 });
  profiled(truth, { names: (position, model) => (model === "large" ? 75 : 35) + (mixSeed("noise", position, model) % 11) });
  label(truth, both(0, 75));
  for (const floor of [45, 50, 55]) expect(warning("names", floor)).not.toBeNull();
});
