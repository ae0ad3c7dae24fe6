import { expect, it } from "vitest";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { createReplicaClock } from "./replicaClock";

/** A millisecond a step; a hundred prompt tokens take a tenth of a second to reach it. */
const model: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 0.001, secondsPerKvToken: 0, mixedStepSeconds: () => 0.001, provenance: [] },
  kvTokens: 1000,
  maxSequences: 8,
  maxBatchedTokens: 512,
  requestSeconds: (inputTokens) => inputTokens / 1000,
};
const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it("lets a short prompt overtake a long one on the way to the replica, each as late as the model says", async () => {
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
  expect([clock.replica.waiting, clock.generatedTokens(long)]).toEqual([0, 0]);
  await soon(300);
  expect(firstTokens.map(([handle]) => handle)).toEqual([short, long]);
  for (const [index, lateSeconds] of [0.021, 0.101].entries()) {
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

it("refuses at once what never fits the KV cache", () => {
  const clock = createReplicaClock({ model, timeScale: 1, onEvent: () => undefined });
  expect(clock.submit(999, 2)).toBeNull();
  expect(clock.submit(998, 2)).not.toBeNull();
  clock.stop();
});
