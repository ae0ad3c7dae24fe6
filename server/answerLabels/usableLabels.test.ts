import { expect, it } from "vitest";
import type { Decision, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { usableLabels } from "./usableLabels";

const stage = (model: string, verdict: StageRecord["verdict"], gate?: StageRecord["gate"]): StageRecord => ({
  ...{ model, replica: `${model}-0`, queueSeconds: 0, seconds: 1, judgeSeconds: null, judgedScore: null, threshold: 60, verdict },
  ...{ reason: "", inputTokens: 1, outputTokens: 1, ...(gate && { gate }) },
});
const scored = (...raw: (number | null)[]) => ({ kind: "confidence" as const, seconds: 0, raw });

const decision = (id: string, ...stages: StageRecord[]): Decision => ({
  ...{ sequence: 1, id, planId: "p1", policyHash: "h", finishedAtMs: 0, status: 200, reason: "", stages },
  ...{ endToEndSeconds: 1, ttftSeconds: null, overheadSeconds: 0 },
});

const records = [
  decision("d1", stage("a", "escalated", scored(20)), stage("b", "accepted", scored(81.25))),
  decision("d2", stage("a", "failed"), stage("a", "escalated", scored(20, null)), stage("b", "accepted")),
];

it("takes the answer that the client got, or that of a named stage, with the raw scores of its gate", () => {
  const given = [
    { decisionId: "d1", quality: 100 },
    { decisionId: "d2", model: "a", quality: 0 },
  ];
  expect(usableLabels(given, records)).toEqual({
    usable: [
      { decisionId: "d1", model: "b", planId: "p1", raw: [81.25], quality: 100, gate: "confidence" },
      { decisionId: "d2", model: "a", planId: "p1", raw: [20, null], quality: 0, gate: "confidence" },
    ],
    leftOut: [],
  });
});

it("leaves out labels that cannot count, by reason, and takes the others", () => {
  const given = [
    { decisionId: "gone", quality: 100, line: 2 },
    { decisionId: "d2", quality: 100, line: 3 },
    { decisionId: "d1", quality: 100, line: 4 },
    { decisionId: "older", quality: 100, line: 5 },
  ];
  const { usable, leftOut } = usableLabels(given, records);
  expect(usable.map(({ decisionId }) => decisionId)).toEqual(["d1"]);
  expect(leftOut).toEqual([
    { kind: "no-record", labels: 2, first: ["line 2: gone", "line 5: older"] },
    { kind: "no-gate", labels: 1, first: ["line 3: d2"] },
  ]);
});
