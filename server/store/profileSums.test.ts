import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { ProfileRequest, Prompt, PromptSet } from "@/server/contracts/studio";
import type { CallGroup, NewCall } from "./profileRepository";
import { openStore } from "./store";

const folder = mkdtempSync(join(tmpdir(), "weir-sums-"));
const store = openStore(folder);
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const at = "2026-01-01T00:00:00.000Z";
const prompt: Prompt = { id: "q", category: "", atMs: null, reference: null, test: null, body: { messages: [] } };
store.prompts.insert({ id: "s", name: "mine", createdAt: at, expiresAt: null, prompts: 1 } as Omit<PromptSet, "deleted">, [prompt]);
let jobs = 0;
function job(): string {
  jobs += 1;
  const id = `job-${jobs}`;
  store.profiles.insert({ id, createdAt: at, actor: "a", promptSetId: "s", request: {} as ProfileRequest, state: "running", pause: null });
  return id;
}

const count = fc.option(fc.integer({ min: 0, max: 9 }));
/** Few keys, so that calls are saved again and again. Money in eighths, which add up without rounding. */
const call = fc.record({
  position: fc.integer({ min: 0, max: 3 }),
  model: fc.constantFrom("m", "n"),
  measureId: fc.constantFrom("", "gate"),
  reading: fc.integer({ min: 0, max: 1 }),
  state: fc.constantFrom("asked", "waiting", "done", "failed"),
  unscored: fc.option(fc.constantFrom("refused", "no-number")),
  failure: fc.option(fc.constantFrom("m went away.", "m is slow.")),
  attempts: fc.integer({ min: 1, max: 3 }),
  lost: fc.integer({ min: 0, max: 2 }),
  usd: fc.integer({ min: 0, max: 80 }).map((eighths) => eighths / 8),
  ...{ inputTokens: count, outputTokens: count, seconds: count, score: count, cut: fc.option(fc.constantFrom(0, 1)) },
  answer: fc.option(fc.constant("words")),
});

/** The expected result of `groups`, from the last saved state of the calls. */
function added(calls: readonly Omit<NewCall, "profileId" | "at">[]): readonly CallGroup[] {
  const last = new Map(calls.map((one) => [JSON.stringify([one.position, one.model, one.measureId, one.reading]), one]));
  const groups = new Map<string, CallGroup>();
  for (const { model, measureId, reading, state, unscored = null, failure = null, usd, lost = 0, ...of } of last.values()) {
    const key = JSON.stringify([model, measureId, reading, state, unscored, failure]);
    const nothing = {
      calls: 0,
      lost: 0,
      usd: 0,
      inputTokens: 0,
      outputTokens: 0,
      withOutput: 0,
      seconds: 0,
      timed: 0,
      score: 0,
      scored: 0,
      cut: 0,
    };
    const sum = groups.get(key) ?? { model, measureId, reading, state, unscored, failure, ...nothing };
    const known = (value: number | null | undefined): number => (value == null ? 0 : 1);
    groups.set(key, {
      ...{ ...sum, calls: sum.calls + 1, lost: sum.lost + lost, usd: sum.usd + usd, cut: sum.cut + (of.cut ?? 0) },
      ...{ inputTokens: sum.inputTokens + (of.inputTokens ?? 0), outputTokens: sum.outputTokens + (of.outputTokens ?? 0) },
      ...{ withOutput: sum.withOutput + known(of.outputTokens), seconds: sum.seconds + (of.seconds ?? 0) },
      ...{ timed: sum.timed + known(of.seconds), score: sum.score + (of.score ?? 0), scored: sum.scored + known(of.score) },
    });
  }
  return [...groups.values()];
}

const sorted = (groups: readonly CallGroup[]) => groups.map((group) => JSON.stringify(group, Object.keys(group).sort())).sort();

describe("sums of a profile's calls", () => {
  it("are those of its calls as they stand, however often each was put down and whatever texts were dropped", () => {
    fc.assert(
      fc.property(fc.array(fc.array(call, { maxLength: 6 }), { maxLength: 6 }), (batches) => {
        const id = job();
        for (const batch of batches) {
          store.profiles.saveCalls(
            id,
            batch.map((one) => ({ ...one, profileId: id, at })),
            batch.slice(0, 1),
          );
        }
        const calls = batches.flat();
        expect(sorted(store.profiles.groups(id))).toEqual(sorted(added(calls)));
        const usd = added(calls).reduce((sum, group) => sum + (group.measureId === "gate" ? group.usd : 0), 0);
        expect(store.profiles.measureUsd(id, "gate")).toBe(usd);
      }),
      { numRuns: 60 },
    );
  });

  it("give the mean answer of a model over all jobs, without those that failed", () => {
    const one = { position: 0, model: "mine", measureId: "", reading: 0, attempts: 1, at, usd: 0 } as const;
    expect(store.profiles.seenOf("mine")).toBeNull();
    for (const [position, outputTokens] of [10, 20, 60].entries()) {
      const profileId = job();
      store.profiles.saveCalls(profileId, [{ ...one, position, profileId, state: "done", outputTokens, seconds: outputTokens / 10 }]);
    }
    const profileId = job();
    store.profiles.saveCalls(profileId, [
      { ...one, profileId, state: "failed", failure: "gone", outputTokens: 900, seconds: 900 },
      { ...one, profileId, position: 1, measureId: "gate", state: "done", outputTokens: 900, seconds: 900 },
    ]);
    expect(store.profiles.seenOf("mine")).toEqual({ answers: 3, outputTokens: 30, seconds: 3 });
  });
});

it("tells by model which answers have their text", () => {
  const id = job();
  const one = { profileId: id, measureId: "", reading: 0, state: "done", attempts: 1, at, usd: 0 } as const;
  store.profiles.saveCalls(id, [
    { ...one, position: 0, model: "m", answer: "words" },
    { ...one, position: 2, model: "m", answer: "words" },
    { ...one, position: 1, model: "m" },
    { ...one, position: 1, model: "n", answer: "words" },
  ]);
  store.profiles.saveCalls(id, [], [{ position: 2, model: "m" }]);
  expect(store.profiles.keptAnswers(id)).toEqual(
    new Map([
      ["m", new Set([0])],
      ["n", new Set([1])],
    ]),
  );
});
