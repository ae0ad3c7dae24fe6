import { describe, expect, it } from "vitest";
import { type BatchJob, createBatcher } from "./batcher";
import type { LlamaSequence, TokenResult } from "./binding";

const answer = {} as TokenResult;

/** Sequences that note in which order a step evaluates them; the answers hold nothing, since jobs here count their tokens alone. */
function notedSequences(count: number) {
  const steps: number[][] = [];
  let current: number[] | null = null;
  const sequences = Array.from({ length: count }, (_, index): LlamaSequence => {
    const evaluate = async (input: readonly unknown[]) => {
      if (current === null) {
        current = [];
        steps.push(current);
        setImmediate(() => {
          current = null;
        });
      }
      current.push(index);
      await Promise.resolve();
      return input.map(() => ({ next: answer }));
    };
    return { nextTokenIndex: 0, controlledEvaluate: evaluate, clearHistory: async () => undefined } as unknown as LlamaSequence;
  });
  return { steps, sequences };
}

/** A job of so many answer tokens; `left` resolves when it has left the batch. */
function jobOf(promptTokens: number, answerTokens: number): { readonly job: BatchJob; readonly left: Promise<void> } {
  let [tokens, end] = [0, () => {}];
  const left = new Promise<void>((resolve) => {
    end = resolve;
  });
  const job: BatchJob = {
    prompt: Array.from({ length: promptTokens }, (_, index) => index),
    signal: new AbortController().signal,
    onStart: () => undefined,
    promptQuery: () => null,
    onPromptResult: () => undefined,
    query: () => ({}),
    onResult: () => {
      tokens += 1;
      return tokens < answerTokens ? tokens : null;
    },
    onLeft: () => end(),
  };
  return { job, left };
}

describe("a step of the batch", () => {
  it("names its sequences in ascending order, whatever order their requests came in", async () => {
    const { steps, sequences } = notedSequences(4);
    const batcher = createBatcher({ sequences, batchTokens: 64, queue: 20 });
    const jobs = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3].map((tokens) => jobOf(5, tokens));
    for (const { job } of jobs) batcher.add(job);
    await Promise.all(jobs.map(({ left }) => left));
    expect(steps.some((step) => step.length === 4)).toBe(true);
    for (const step of steps) expect(step).toEqual([...step].sort((a, b) => a - b));
  });

  it("uses the lowest sequences, so that those of a step follow one another", async () => {
    const { steps, sequences } = notedSequences(8);
    const batcher = createBatcher({ sequences, batchTokens: 64, queue: 20 });
    for (let round = 0; round < 3; round += 1) {
      const jobs = [2, 3].map((tokens) => jobOf(5, tokens));
      for (const { job } of jobs) batcher.add(job);
      await Promise.all(jobs.map(({ left }) => left));
    }
    expect(new Set(steps.flat())).toEqual(new Set([0, 1]));
  });
});
