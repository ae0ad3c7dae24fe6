import { expect, it } from "vitest";
import type { Decision, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { labelledAnswer } from "./labelledAnswer";

const stage = (model: string, verdict: StageRecord["verdict"], gate?: StageRecord["gate"]): StageRecord => ({
  ...{ model, replica: `${model}-0`, queueSeconds: 0, seconds: 1, judgeSeconds: null, judgedScore: null, threshold: 60, verdict },
  ...{ reason: "", inputTokens: 1, outputTokens: 1, ...(gate && { gate }) },
});
const scored = (...raw: (number | null)[]) => ({ kind: "confidence" as const, seconds: 0, raw });

const decision = (...stages: StageRecord[]): Decision => ({
  ...{ sequence: 1, id: "d1", planId: "p1", policyHash: "h", finishedAtMs: 0, status: 200, reason: "", stages },
  ...{ endToEndSeconds: 1, ttftSeconds: null, overheadSeconds: 0 },
});

it("is the answer that the client got, with the raw score that its gate gave it", () => {
  const found = labelledAnswer({ decisionId: "d1" }, decision(stage("a", "escalated", scored(20)), stage("b", "accepted", scored(81.25))));
  expect(found).toEqual({ ok: true, answer: { model: "b", planId: "p1", raw: [81.25] } });
});

it("is that of a named stage, after a failed attempt of it too", () => {
  const stages = [stage("a", "failed"), stage("a", "escalated", scored(20, null)), stage("b", "accepted")];
  expect(labelledAnswer({ decisionId: "d1", model: "a" }, decision(...stages))).toEqual({
    ok: true,
    answer: { model: "a", planId: "p1", raw: [20, null] },
  });
});

it.each([
  ["a record that is gone", {}, undefined, "There is no record of d1 here"],
  ["a request without an answer", {}, decision(stage("a", "failed")), "d1 has no accepted answer to label."],
  ["a model that did not answer", { model: "c" }, decision(stage("a", "accepted", scored(1))), "d1 has no answer of c to label."],
  ["an answer that nothing scored", {}, decision(stage("b", "accepted")), "No gate scored the answer of b to d1"],
  ["an older gateway", {}, decision(stage("a", "accepted", { kind: "judge", seconds: 0 })), "its gateway is of an earlier version"],
  ["a gate without a score", {}, decision(stage("a", "accepted", scored(null))), "gave the answer of a to d1 no raw score"],
])("refuses %s in one sentence", (_, about, record, sentence) => {
  const refused = labelledAnswer({ decisionId: "d1", ...about }, record);
  expect(refused).toEqual({ ok: false, message: expect.stringContaining(sentence) });
});
