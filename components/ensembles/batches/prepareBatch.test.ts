import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import type { Batch } from "@/server/contracts/studio";
import { testBatch, testSession } from "../testing/testEnsembles";
import { batchRefreshMs, batchState, prepareBatch } from "./prepareBatch";

const identities = identifyModels(["gemma-2-9b", "qwen2.5-7b", "llama-3.1-70b"]);
const plain = (text: string | null | undefined): string | undefined => text?.replaceAll("\u00a0", " ");
const drawn = (batch: Batch, key: string) => prepareBatch(batch, identities).gantt?.drawings.find((each) => each.key === key);

describe("prepareBatch", () => {
  it("draws what was predicted above what runs, on one axis, the aggregator after the last expert", () => {
    const batch = testBatch({
      sessions: [
        testSession({ worker: 0, state: "done", answered: 100, measured: { loadSeconds: 50, seconds: 150 } }),
        testSession({
          ...{ worker: 1, model: "qwen2.5-7b", state: "running", answered: 50 },
          ...{ measured: { loadSeconds: 40, seconds: 30 }, expected: { loadSeconds: 40, seconds: 100 } },
        }),
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
    const { progress } = testBatch();
    const questions = { skipped: 40, aggregated: 5, unanswered: 1, open: 54, toAggregate: 60 };
    const running = testBatch({ sessions, aggregatorPredicted, progress: { ...progress, questions } });
    expect(
      prepareBatch(running, identities)
        .rows.slice(1)
        .map(({ answered, share }) => [answered, share]),
    ).toEqual([
      ["5 of 30", 0.2],
      ["0 of 30", 0],
    ]);
    expect(drawn(running, "measured")?.rows[1]?.bars[0]?.share).toBeCloseTo(0.2);
    const stopped = testBatch({ ...running, state: "stopped" });
    expect(drawn(stopped, "measured")?.rows[1]?.bars[0]?.text).toContain("6 questions");
    expect(prepareBatch(stopped, identities).rows[1]).toMatchObject({ answered: "5 of 30", state: "stopped" });
  });

  it("draws what is expected of sessions as the studio tells it, the aggregator's after the last expert", () => {
    const sessions = [
      testSession({
        ...{ state: "running", answered: 50, measured: { loadSeconds: 40, seconds: 60 }, expected: { loadSeconds: 40, seconds: 200 } },
      }),
      testSession({ turn: 1, model: "qwen2.5-7b", expected: { loadSeconds: 40, seconds: 100 } }),
      testSession({ stage: "aggregator", model: "llama-3.1-70b", expected: { loadSeconds: 60, seconds: 50 } }),
      testSession({ stage: "aggregator", worker: 1, model: "llama-3.1-70b" }),
    ];
    const batch = testBatch({ sessions });
    const running = drawn(batch, "measured");
    expect(running?.rows.map(({ bars }) => bars.map(({ share }) => share))).toEqual([[0.5, 0], [0], []]);
    expect(plain(running?.end.text)).toBe("expected to be done after 490 s");
    // Of a hundred questions fifty have answers of all experts, and twenty of these go to the aggregator.
    expect(plain(running?.rows[1]?.bars[0]?.text)).toContain("40 questions");
    expect(prepareBatch(batch, identities).rows.at(-2)).toMatchObject({ answered: "–" });
  });

  it("says that the aggregator comes after experts of whose questions nobody knows how many it is sent", () => {
    const sessions = [
      testSession({
        ...{ state: "running", answered: 50, measured: { loadSeconds: 40, seconds: 60 }, expected: { loadSeconds: 40, seconds: 110 } },
      }),
      testSession({ stage: "aggregator", model: "llama-3.1-70b" }),
    ];
    const running = drawn(testBatch({ sessions }), "measured");
    expect(plain(running?.end.text)).toBe("experts expected to be done after 150 s");
    const over = sessions.map((session) => ({ ...session, expected: null }));
    expect(plain(drawn(testBatch({ sessions: over, state: "stopped" }), "measured")?.end.text)).toBe("experts stopped after 100 s");
    expect(plain(drawn(testBatch({ sessions: over }), "measured")?.end.text)).toBe("experts expected to be done after 100 s");
  });

  it("counts workers in what it says, not engines of the aggregator on their GPUs", () => {
    const done = { state: "done", answered: 100, measured: { loadSeconds: 40, seconds: 60 } } as const;
    const sessions = [testSession(done), testSession({ ...done, worker: 1 }), testSession({ ...done, stage: "aggregator" })];
    expect(plain(drawn(testBatch({ sessions, state: "done" }), "measured")?.says)).toBe(
      "As it runs: 2 workers, 3 sessions, the last done after 200 s.",
    );
  });

  it("says of sessions of a stopped batch that they stopped or never began, not that they go on", () => {
    const sessions = [
      testSession({ state: "done", answered: 100, measured: { loadSeconds: 40, seconds: 60 } }),
      testSession({ stage: "aggregator", state: "running", answered: 5, measured: { loadSeconds: 10, seconds: 0 } }),
      testSession({ stage: "aggregator", worker: 1 }),
    ];
    const stopped = testBatch({ sessions, state: "stopped" });
    expect(prepareBatch(stopped, identities).rows.map(({ state }) => state)).toEqual(["done", "stopped", "not started"]);
    expect(prepareBatch(testBatch({ sessions, state: "done" }), identities).rows.at(-1)?.state).toBe("not needed");
    expect(plain(drawn(stopped, "measured")?.end.text)).toBe("stopped after 110 s");
    expect(plain(drawn(stopped, "measured")?.says)).not.toContain("done after");
  });

  it("draws only what runs where nothing was predicted, and nothing before the first load", () => {
    expect(prepareBatch(testBatch({ sessions: [testSession({ predicted: null, state: "waiting" })] }), identities).gantt).toBeNull();
    const running = testBatch({ sessions: [testSession({ predicted: null, state: "done", measured: { loadSeconds: 3, seconds: 7 } })] });
    expect(prepareBatch(running, identities).gantt?.drawings.map(({ key }) => key)).toEqual(["measured"]);
  });

  it("counts what was decided how, and what went wrong, in words", () => {
    const picture = prepareBatch(testBatch(), identities);
    expect(picture.says).toBe("150 of 300 answers of experts are finished; 40 of 100 questions decided.");
    expect(Object.fromEntries(picture.figures.map(({ name, value, detail }) => [name, plain(`${value} ${detail}`.trim())]))).toEqual({
      "Skipped the aggregator": "30 60 % of the 50 whose experts are done",
      "For the aggregator": "20 10 of them decided",
      Unanswered: "2 no model answered",
      Failed: "6 calls of experts, after every attempt",
      "No vote": "3 no vote could be read",
      Retried: "9 after a failure",
      Interrupted: "0",
    });
    expect(picture.share + picture.failedShare).toBeCloseTo(0.5);
    expect(plain(picture.left)).toBe("about 4 min left by the cluster's clock");
    expect(picture.accuracy).toMatchObject({ name: "Accuracy of those decided", value: "80\u00a0%" });
    expect(picture.accuracy?.detail).toContain("without the 10 that the aggregator has not decided");
    expect(picture.failures).toEqual([{ text: "no answer within 600 s", calls: "6" }]);
  });

  it("tells of a batch that was stopped before its aggregator how many skip it of all that experts are through with", () => {
    const { progress } = testBatch();
    const questions = { skipped: 23, aggregated: 0, unanswered: 0, open: 77, toAggregate: 77 };
    const { figures } = prepareBatch(testBatch({ state: "stopped", progress: { ...progress, questions } }), identities);
    expect(plain(figures[0]?.detail)).toBe("23 % of the 100 whose experts are done");
    const whole = { skipped: 23, aggregated: 76, unanswered: 1, open: 0, toAggregate: 77 };
    expect(prepareBatch(testBatch({ state: "done", progress: { ...progress, questions: whole } }), identities).accuracy?.name).toBe(
      "Accuracy",
    );
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
    expect(rows[0]).toMatchObject({ worker: "worker 1", failed: "2", state: "queued" });
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
    "Answers are being read from disk: figures cover the first 40 of 100 questions.",
  );
});
