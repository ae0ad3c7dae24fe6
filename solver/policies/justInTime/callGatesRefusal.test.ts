import { expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { justInTime, testWorkflows } from "../testing/testJustInTime";
import { justInTimeRefusal } from "./justInTimeRefusal";

const gate: GateDocument = { kind: "confidence", measure: "minimum", calibration: { raw: [0, 100], calibrated: [0, 100] } };
const small = { model: "small", gate, prior: 0.6 };
const draft = { agent: "draft", model: "small", rightIfAccurate: 0.9, rightIfNot: 0.4 };
const [refine] = testWorkflows as [(typeof testWorkflows)[number]];

const refused = (
  callGates: JustInTimePolicy["callGates"],
  answers: JustInTimePolicy["workflows"][number]["answers"] = [draft],
  selection: JustInTimePolicy["selection"] = { kind: "beam", width: 4 },
): string | null =>
  justInTimeRefusal(justInTime(selection, { workflows: [{ workflow: refine, answers }], ...(callGates && { callGates }) }));

it("gates of agents' answers that say something are taken", () => {
  expect(refused([small])).toBeNull();
});

it("gates and answers that could change nothing, or not what they say, are refused with the reason", () => {
  const fixed = { kind: "fixed", configurations: { refine: { draft: "small", critic: "small", refiner: "small" } } } as const;
  expect(refused([small], [draft], fixed)).toContain("does not change with scores");
  expect(refused(undefined)).toBe("Answers are named whose scores no gate gives.");
  expect(refused([small, small])).toBe("The gate of small is listed twice.");
  expect(refused([{ ...small, model: "huge" }])).toContain("huge, which is not among small, medium, large");
  expect(refused([small, { ...small, model: "large" }])).toContain("name no gate for it");
  expect(refused([{ ...small, gate: { kind: "judge" } }])).toContain("The gate of small is a judge, which asks for more than the answer");
  expect(refused([{ ...small, gate: { kind: "confidence", measure: "minimum" } }])).toContain("has no calibration");
  expect(refused([small, { ...small, model: "medium" }])).toBe(
    "The gate of medium scores answers that say nothing: no workflow lists answers by it.",
  );
  expect(refused([small], [draft, { ...draft, agent: "judge" }])).toBe("Answers of judge are listed, which is no agent of refine.");
  expect(refused([small], [draft, draft])).toBe("Answers of draft by small are listed twice in refine.");
  expect(refused([small], [draft, { ...draft, model: "medium" }])).toContain("by medium are listed in refine, and no gate scores them");
  expect(refused([small], [{ ...draft, rightIfNot: 0.95 }])).toContain("right more often where the program is not accurate (0.95)");
});
