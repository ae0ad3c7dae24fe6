import { expect, test } from "vitest";
import { createReplica } from "./createReplica";
import type { EngineRequest } from "./replica";
import type { ReplicaModel } from "./replicaModel";

/** One second a step, whatever it holds. */
const model: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 1, secondsPerKvToken: 0, mixedStepSeconds: () => 1, provenance: [] },
  ...{ kvTokens: 1000, maxSequences: 1, maxBatchedTokens: 100, requestSeconds: () => 0 },
};

/** Each request's first entry into the batch and its end, and how often one was taken out. */
function served(own: ReplicaModel, requests: readonly EngineRequest[]) {
  const replica = createReplica(own);
  for (const [handle, request] of requests.entries()) replica.enqueue(handle, request);
  const [entered, ended]: [number[], number[]] = [[], []];
  replica.advanceTo(Number.POSITIVE_INFINITY, (kind, handle, seconds) => {
    if (kind === "admitted") entered[handle] ??= seconds;
    else if (kind === "finished") ended[handle] = seconds;
  });
  return { entered, ended, preemptions: replica.preemptions };
}

const long: EngineRequest = { atSeconds: 0, inputTokens: 5, outputTokens: 20 };
const short: EngineRequest = { atSeconds: 2, inputTokens: 5, outputTokens: 2 };

test("a long answer makes room for a short one once its quantum is used up, and goes on afterwards", () => {
  const without = served(model, [long, short]);
  expect(without).toEqual({ entered: [0, 20], ended: [20, 22], preemptions: 0 });
  const feedback = served({ ...model, feedback: { quantaSteps: [4] } }, [long, short]);
  // Taken out after 4 steps for the 2 of the short one, then its prompt and its 4 tokens are computed again in the step of its fifth.
  expect(feedback).toEqual({ entered: [0, 4], ended: [22, 6], preemptions: 1 });
});

test("equal levels never take each other's place", () => {
  const { preemptions } = served({ ...model, feedback: { quantaSteps: [] } }, [long, short, short]);
  expect(preemptions).toBe(0);
});

test("a request that was sent at a lower level waits for those above it and is taken out for them at once", () => {
  const lower = { ...long, priority: 1 };
  const { entered, preemptions } = served({ ...model, feedback: { quantaSteps: [4, 8] } }, [lower, short]);
  expect([entered[1], preemptions]).toEqual([2, 1]);
});

test("nothing is taken out for a request that would not fit even then", () => {
  const big: EngineRequest = { atSeconds: 2, inputTokens: 900, outputTokens: 2 };
  const kept: EngineRequest = { atSeconds: 0, inputTokens: 200, outputTokens: 30 };
  const lower: EngineRequest = { ...kept, inputTokens: 10, priority: 1 };
  const roomy = { ...model, maxSequences: 4, feedback: { quantaSteps: [50] } };
  expect(served(roomy, [kept, lower, big]).preemptions).toBe(0);
});

test("a quantum of no whole step is refused", () => {
  expect(() => createReplica({ ...model, feedback: { quantaSteps: [4, 0] } })).toThrow("found 0");
});
