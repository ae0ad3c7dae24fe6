import { Worker } from "node:worker_threads";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import type { Answer, Batch, PredictorQuery, Question, Reply } from "./prediction";
import { PredictionThread } from "./predictionThread";

const facts = { instructionTokens: 0, promptTokens: 6, inputTokens: 6, workflow: "voting", stage: "voter-1" };
const asking: PredictorQuery = { lengths: null, confidence: null, configurations: null, models: [], withMargins: false };
const about = (configurations: string | null, searchMs = 1000): Question => {
  return { text: "", facts, wanted: [{ ...asking, configurations }], searchMs };
};
const nothing: Answer = { sketch: null, predicted: [{}], configurations: [null] };

async function startThread(limitMs = 60_000): Promise<PredictionThread> {
  const thread = await PredictionThread.start({
    ...{ artefacts: [], encoders: { list: [], canRun: false }, mostWaiting: 100, limitMs },
    ...{ onBatch: () => undefined, onGone: () => undefined },
  });
  onTestFinished(() => thread.close());
  return thread;
}

/**
 * Makes the thread report this duration of a search, whatever the question.
 * @returns the batches it receives.
 */
function searchesTaking(searchMs: number): Batch[] {
  const batches: Batch[] = [];
  vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, { id, task }: { id: number; task: Batch }) {
    batches.push(task);
    const reply: Reply = { answers: task.questions.map(() => nothing), searchMs };
    setImmediate(() => this.emit("message", { kind: "answer", id, answer: reply }));
  });
  return batches;
}

afterEach(() => void vi.restoreAllMocks());

it("takes no more searches in one go than end in time, and everything else that waits", async () => {
  const thread = await startThread();
  const batches = searchesTaking(400);
  const ten = (hash: string | null) => Promise.all(Array.from({ length: 10 }, () => thread.ask(about(hash))));
  await ten("a");
  expect(batches.map(({ questions }) => questions.length)).toEqual([10]);
  expect(batches[0]?.searchMs).toBeLessThanOrEqual(1000);
  await ten("a");
  const searches = batches.slice(1);
  expect(searches.length).toBeGreaterThanOrEqual(5);
  expect(Math.max(...searches.map(({ questions }) => questions.length))).toBeLessThanOrEqual(2);
  const before = batches.length;
  await ten(null);
  expect(batches.slice(before).map(({ questions, searchMs }) => [questions.length, searchMs])).toEqual([[10, Number.POSITIVE_INFINITY]]);
});

it("holds a request for its search's own time where that is all it waits for", async () => {
  const thread = await startThread();
  vi.spyOn(Worker.prototype, "postMessage").mockImplementation(() => undefined);
  // Either would be held for a minute, which exceeds a test's time limit.
  expect(await thread.ask(about("a", 20))).toBe("late");
});
