import { expect, test } from "vitest";
import { withMirroredAnswers } from "./observedWorkload";
import type { ObservedRequest } from "./similarRows";

const table = (model: string) => ({
  model,
  tableName: model,
  outputTokens: new Int32Array(),
  label: new Float64Array(),
  judged: new Float64Array(),
});
const outcomes = { promptIds: [], categories: [], inputTokens: new Int32Array(), models: [table("small"), table("large")] };
const small = (confidence?: number) => ({
  model: "small",
  outputTokens: 50,
  judged: null,
  ...(confidence !== undefined && { confidence }),
});
/** A request of which the large model's answer has a length of its own. */
const mirrored = (outputTokens: number, confidence?: number): ObservedRequest => ({
  ...{ arrivalSeconds: 0, inputTokens: 10 },
  visits: [small(confidence), { model: "large", outputTokens, judged: null }],
});
const nearest = (confidence: number, copies: readonly ObservedRequest[]) =>
  withMirroredAnswers({ outcomes }, [{ arrivalSeconds: 0, inputTokens: 10, visits: [small(confidence)] }], copies)[0]?.visits[1]
    ?.outputTokens;

test("a mirrored request without a score does not pass for one with the score 0", () => {
  const copies = [mirrored(1), mirrored(2, 30), mirrored(3, 90)];
  expect([nearest(5, copies), nearest(95, copies)]).toEqual([2, 3]);
});
