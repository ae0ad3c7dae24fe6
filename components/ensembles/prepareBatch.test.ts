import { describe, expect, it } from "vitest";
import type { Batch } from "@/server/contracts/studio";
import { identifyModels } from "../ui/modelIdentity";
import { batchRefreshMs, batchState, prepareBatch } from "./prepareBatch";
import { testBatch, testSession } from "./testEnsembles";

const identities = identifyModels(["gemma-2-9b", "qwen2.5-7b", "llama-3.1-70b"]);
const plain = (text: string | null | undefined): string | undefined => text?.replaceAll("\u00a0", " ");
const drawn = (batch: Batch, key: string) => prepareBatch(batch, identities).gantt?.drawings.find((each) => each.key === key);

describe("prepareBatch", () => {
  it("draws what was predicted above what runs, on one axis, the aggregator after the last expert", () => {
    const batch = testBatch({
      sessions: [
        testSession({ worker: 0, state: "done", answered: 100, measured: { loadSeconds: 50, seconds: 150 } }),
        testSession({ worker: 1, model: "qwen2.5-7b", state: "running", answered: 50, measured: { loadSeconds: 40, seconds: 30 } }),
        testSession({
          stage: "aggregator",
          worker: 0,
          model: "llama-3.1-70b",
          state: "waiting",
          predicted: { loadSeconds: 60, seconds: 40 },
        }),
      ],
    });
    const picture = prepareBatch(batch, identities);
    expect(picture.gantt?.drawings.map(({ title, word }) => [title, word])).toEqual([
      ["As predicted", "modelled"],
      ["As it runs", "emulated"],
    ]);
    // 40 s of loading and 100 s of answers for each expert, then 60 s and 40 s of the aggregator.
    const predicted = drawn(batch, "predicted");
    expect(predicted?.end).toEqual({ at: 1, text: "done after 240\u00a0s" });
    expect(predicted?.rows.at(-1)).toMatchObject({
      key: "aggregator 1",
      bars: [{ label: "G 100", from: 140 / 240, width: expect.closeTo(100 / 240) }],
    });
    const running = drawn(batch, "measured");
    expect(running?.rows[0]?.bars[0]).toMatchObject({ width: expect.closeTo(200 / 240), loading: 0.25, share: null });
    expect(running?.rows[1]?.bars[0]).toMatchObject({ width: expect.closeTo(140 / 240), share: 0.5 });
    expect(running?.rows[2]?.bars).toEqual([]);
  });

  it("draws what is predicted of the aggregator for the share of questions that it is sent", () => {
    const sessions = [
      testSession(),
      testSession({ stage: "aggregator", model: "llama-3.1-70b", prompts: 31, predicted: { loadSeconds: 60, seconds: 20 } }),
      testSession({ stage: "aggregator", worker: 1, model: "llama-3.1-70b", prompts: 31, predicted: { loadSeconds: 60, seconds: 20 } }),
    ];
    const aggregatorPredicted = { loadSeconds: 60, seconds: 20, share: 0.62, says: "Of 62 % of the questions." };
    const predicted = drawn(testBatch({ sessions, aggregatorPredicted }), "predicted");
    expect(predicted?.rows.map(({ bars }) => bars[0]?.text).map((text) => plain(text)?.split(":")[0])).toEqual([
      "worker 1, gemma-2-9b, 100 questions",
      "aggregator 1, llama-3.1-70b, 31 questions",
      "aggregator 2, llama-3.1-70b, 31 questions",
    ]);
    expect(plain(predicted?.end.text)).toBe("done after 220 s");
  });

  it("counts of an engine of the aggregator that is under way its part of what is sent, and of a stopped one what it answered", () => {
    const engine = { stage: "aggregator", model: "llama-3.1-70b", state: "running", measured: { loadSeconds: 10, seconds: 10 } } as const;
    const sessions = [
      testSession({ state: "done", answered: 100, measured: { loadSeconds: 40, seconds: 60 } }),
      testSession({ ...engine, prompts: 6, answered: 5, failed: 1 }),
      testSession({ ...engine, worker: 1, prompts: 0 }),
    ];
    const aggregatorPredicted = { loadSeconds: 60, seconds: 20, share: 0.6, says: "" };
    const running = testBatch({ sessions, aggregatorPredicted });
    expect(
      prepareBatch(running, identities)
        .rows.slice(1)
        .map(({ answered, share }) => [answered, share]),
    ).toEqual([
      ["5 of 30", 0.2],
      ["0 of 30", 0],
    ]);
    expect(drawn(running, "measured")?.rows[1]?.bars[0]?.share).toBeCloseTo(0.2);
    const stopped = testBatch({ sessions, aggregatorPredicted, state: "stopped" });
    expect(drawn(stopped, "measured")?.rows[1]?.bars[0]?.text).toContain("6 questions");
    expect(prepareBatch(stopped, identities).rows[1]).toMatchObject({ answered: "5 of 30", state: "stopped" });
  });

  it("expects a session that takes longer than predicted to end no sooner than now", () => {
    const batch = testBatch({ sessions: [testSession({ state: "running", answered: 99, measured: { loadSeconds: 40, seconds: 900 } })] });
    expect(plain(drawn(batch, "measured")?.end.text)).toBe("expected to be done after 940 s");
  });

  it("expects sessions of experts that wait, and says that the aggregator comes after them", () => {
    const sessions = [
      testSession({ state: "running", answered: 50, measured: { loadSeconds: 40, seconds: 60 } }),
      testSession({ turn: 1, model: "qwen2.5-7b" }),
      testSession({ stage: "aggregator", model: "llama-3.1-70b" }),
    ];
    const running = drawn(testBatch({ sessions }), "measured");
    expect(running?.rows.map(({ bars }) => bars.map(({ share }) => share))).toEqual([[0.5, 0], []]);
    expect(plain(running?.end.text)).toBe("experts expected to be done after 280 s");
    const stopped = drawn(testBatch({ sessions, state: "stopped" }), "measured");
    expect(stopped?.rows.map(({ bars }) => bars.map(({ share }) => share))).toEqual([[null], []]);
    expect(plain(stopped?.end.text)).toBe("experts stopped after 100 s");
  });

  it("says of sessions of a stopped batch that they stopped or never began, not that they go on", () => {
    const sessions = [
      testSession({ state: "done", answered: 100, measured: { loadSeconds: 40, seconds: 60 } }),
      testSession({ stage: "aggregator", state: "running", answered: 5, measured: { loadSeconds: 10, seconds: 0 } }),
      testSession({ stage: "aggregator", worker: 1 }),
    ];
    const stopped = testBatch({ sessions, state: "stopped" });
    expect(prepareBatch(stopped, identities).rows.map(({ state }) => state)).toEqual(["done", "stopped", "never begun"]);
    expect(prepareBatch(testBatch({ sessions, state: "done" }), identities).rows.at(-1)?.state).toBe("not needed");
    expect(plain(drawn(stopped, "measured")?.end.text)).toBe("experts stopped after 110 s");
    expect(plain(drawn(stopped, "measured")?.says)).not.toContain("done after");
  });

  it("draws only what runs where nothing was predicted, and nothing before the first load", () => {
    expect(prepareBatch(testBatch({ sessions: [testSession({ predicted: null, state: "waiting" })] }), identities).gantt).toBeNull();
    const running = testBatch({ sessions: [testSession({ predicted: null, state: "done", measured: { loadSeconds: 3, seconds: 7 } })] });
    expect(prepareBatch(running, identities).gantt?.drawings.map(({ key }) => key)).toEqual(["measured"]);
  });

  it("counts what was decided how, and what went wrong, in words", () => {
    const picture = prepareBatch(testBatch(), identities);
    expect(picture.says).toBe("150 of 300 answers of experts are over; 40 of 100 questions decided.");
    expect(Object.fromEntries(picture.figures.map(({ name, value, detail }) => [name, plain(`${value} ${detail}`.trim())]))).toEqual({
      "Skipped the aggregator": "30 75 % of those decided",
      Aggregated: "8 20 % of those decided",
      Unanswered: "2 nobody gave an answer",
      Failed: "6 calls of experts, after every attempt",
      "No vote": "3 nothing could be read off them",
      "Tried again": "9 after a failure",
      "Cut off": "0",
    });
    expect(picture.share + picture.failedShare).toBeCloseTo(0.5);
    expect(plain(picture.left)).toBe("some 4 min left by the cluster's clock");
    expect(plain(picture.accuracy?.value)).toBe("80 %");
    expect(picture.failures).toEqual([{ text: "no answer within 600 s", calls: "6" }]);
  });

  it("says nothing of the time left of a batch that does not run, nor of accuracy without references", () => {
    const picture = prepareBatch(testBatch({ state: "paused", accuracy: null }), identities);
    expect([picture.left, picture.accuracy]).toEqual([null, null]);
  });

  it("keeps sessions of a worker in turn, and the aggregator's at the end", () => {
    const sessions = [
      testSession({ stage: "aggregator", worker: 0 }),
      testSession({ worker: 1, turn: 0 }),
      testSession({ worker: 0, turn: 1, model: "qwen2.5-7b" }),
      testSession({ worker: 0, turn: 0, failed: 2 }),
    ];
    const { rows } = prepareBatch(testBatch({ sessions }), identities);
    expect(rows.map(({ key }) => key)).toEqual(["experts 0 0", "experts 0 1", "experts 1 0", "aggregator 0 0"]);
    expect(rows[0]).toMatchObject({ worker: "worker 1", failed: "2", state: "waits its turn" });
  });
});

it("tells a batch that somebody paused from one that paused itself", () => {
  const since = "2026-03-01T10:00:00Z";
  expect(batchState({ state: "paused", pause: { kind: "operator", reason: "", since } }).tone).toBe("warn");
  expect(batchState({ state: "paused", pause: { kind: "problem", reason: "engine is down", since } })).toMatchObject({ tone: "bad" });
});

it("looks again at a batch that runs or is still being read, and says that figures are of what is read", () => {
  const { progress } = testBatch();
  const beingRead = { ...progress, questionsRead: 40 };
  const refresh = (state: Batch["state"], of = progress) => batchRefreshMs(testBatch({ state, progress: of }));
  expect([refresh("running"), refresh("done"), refresh("done", beingRead), batchRefreshMs(undefined)]).toEqual([1000, false, 1000, false]);
  expect([refresh("paused"), refresh("paused", beingRead)]).toEqual([5000, 1000]);
  expect(plain(prepareBatch(testBatch({ progress: beingRead }), identities).says)).toBe(
    "Its answers are being read from the disk: figures are of the first 40 of 100 questions.",
  );
});
