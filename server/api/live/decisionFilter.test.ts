import { expect, it } from "vitest";
import type { Decision, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { DecisionFilter } from "@/server/contracts/studio";
import { passes } from "./decisionFilter";

const stage: StageRecord = {
  model: "small",
  replica: "small-1",
  queueSeconds: 0,
  seconds: 1,
  judgeSeconds: null,
  judgedScore: null,
  threshold: null,
  verdict: "accepted",
  reason: "",
  inputTokens: null,
  outputTokens: null,
};
const judged = (verdict: StageRecord["verdict"], judgedScore: number | null): StageRecord => ({
  ...stage,
  judgeSeconds: 0.1,
  judgedScore,
  verdict,
});
const decision = (id: string, change: Partial<Decision> = {}): Decision => ({
  sequence: 1,
  id,
  planId: "p",
  policyHash: "h",
  finishedAtMs: 0,
  status: 200,
  reason: "",
  stages: [judged("accepted", 80)],
  ttftSeconds: null,
  endToEndSeconds: 1,
  overheadSeconds: 0,
  ...change,
});
const large = { ...stage, model: "large", replica: "large-1" };
const records = [
  decision("plain"),
  decision("Escalated-7", { stages: [judged("escalated", 10), large], endToEndSeconds: 4 }),
  decision("unjudged", { stages: [judged("accepted", null)], program: "Agent-7" }),
  decision("last-stage", { stages: [large] }),
  decision("shed", { status: 429, stages: [] }),
  decision("left", { status: 499, stages: [judged("failed", null)] }),
];
const any: DecisionFilter = { outcome: "any", model: null, replica: null, slowerThanSeconds: null, text: null };

it.each<[string, Partial<DecisionFilter>, readonly string[]]>([
  ["every record", {}, ["plain", "Escalated-7", "unjudged", "last-stage", "shed", "left"]],
  ["answered ones", { outcome: "answered" }, ["plain", "Escalated-7", "unjudged", "last-stage"]],
  ["those that ended in any error", { outcome: "failed" }, ["shed", "left"]],
  ["those sent on to another stage", { outcome: "escalated" }, ["Escalated-7"]],
  ["those accepted for want of a score, not those that need none", { outcome: "unjudged" }, ["unjudged"]],
  ["those that reached a model", { model: "large" }, ["Escalated-7", "last-stage"]],
  ["those that reached an engine", { replica: "large-1" }, ["Escalated-7", "last-stage"]],
  ["those slower than a bound, which itself is not slower", { slowerThanSeconds: 1 }, ["Escalated-7"]],
  ["those with a text in the id or the program, in any case", { text: "-7" }, ["Escalated-7", "unjudged"]],
  ["those with a text, in any case", { text: "AGENT" }, ["unjudged"]],
  ["every record for an empty text", { text: "" }, ["plain", "Escalated-7", "unjudged", "last-stage", "shed", "left"]],
  ["those for which all that is set holds", { outcome: "answered", model: "large", slowerThanSeconds: 2 }, ["Escalated-7"]],
])("finds %s", (_, change, ids) => {
  expect(records.filter((record) => passes(record, { ...any, ...change })).map(({ id }) => id)).toEqual(ids);
});
