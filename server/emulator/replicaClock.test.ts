import { expect, it } from "vitest";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { createReplicaClock } from "./replicaClock";

/** A millisecond a step; the front end takes a millisecond for each prompt token. */
const model: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 0.001, secondsPerKvToken: 0, mixedStepSeconds: () => 0.001, provenance: [] },
  kvTokens: 1000,
  maxSequences: 8,
  maxBatchedTokens: 512,
  requestSeconds: (inputTokens) => inputTokens / 1000,
};
const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it("lets a short prompt wait behind a long one in the front end, each as late as the model says", async () => {
  const firstTokens: [number, number][] = [];
  const clock = createReplicaClock({
    model,
    timeScale: 1,
    onEvent: (kind, handle, seconds) => kind === "first-token" && firstTokens.push([handle, seconds]),
  });
  const before = clock.nowSeconds();
  const long = clock.submit(100, 2) ?? -1;
  const short = clock.submit(20, 2) ?? -1;
  const after = clock.nowSeconds();
  clock.catchUp();
  expect([clock.replica.running, clock.replica.waiting, clock.generatedTokens(long)]).toEqual([0, 2, 0]);
  await soon(300);
  expect(firstTokens.map(([handle]) => handle)).toEqual([long, short]);
  for (const [index, lateSeconds] of [0.101, 0.121].entries()) {
    expect(firstTokens[index]?.[1]).toBeGreaterThanOrEqual(before + lateSeconds - 1e-9);
    expect(firstTokens[index]?.[1]).toBeLessThanOrEqual(after + lateSeconds + 1e-9);
  }
  clock.stop();
});

it("forgets a request that is given up on its way", async () => {
  const events: number[] = [];
  const clock = createReplicaClock({ model, timeScale: 1, onEvent: (_, handle) => events.push(handle) });
  const gone = clock.submit(50, 2) ?? -1;
  const stays = clock.submit(60, 2) ?? -1;
  clock.catchUp();
  clock.abort(gone);
  await soon(200);
  expect(new Set(events)).toEqual(new Set([stays]));
  clock.stop();
});

it("shows first tokens and ends when the front end has worked on them, and none of a request given up meanwhile", async () => {
  const seen: [string, number, number][] = [];
  const clock = createReplicaClock({
    model: { ...model, requestSeconds: () => 0, tokenSeconds: 0.05 },
    timeScale: 1,
    onEvent: (kind, handle, seconds, seenSeconds) => kind !== "admitted" && seen.push([`${kind} ${handle}`, seconds, seenSeconds]),
  });
  const stays = clock.submit(10, 1) ?? -1;
  clock.catchUp();
  await soon(20);
  clock.catchUp();
  expect([seen, clock.generatedTokens(stays)]).toEqual([[], 1]);
  await soon(200);
  expect(seen.map(([what]) => what)).toEqual([`first-token ${stays}`, `finished ${stays}`]);
  for (const [, seconds, seenSeconds] of seen) expect(seenSeconds - seconds).toBeCloseTo(0.05, 9);
  const gone = clock.submit(10, 1) ?? -1;
  clock.catchUp();
  await soon(20);
  clock.catchUp();
  clock.abort(gone);
  await soon(200);
  expect(seen).toHaveLength(2);
  clock.stop();
});

it("refuses at once what never fits the KV cache", () => {
  const clock = createReplicaClock({ model, timeScale: 1, onEvent: () => undefined });
  expect(clock.submit(999, 2)).toBeNull();
  expect(clock.submit(998, 2)).not.toBeNull();
  clock.stop();
});
