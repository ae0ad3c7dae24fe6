import { expect, it } from "vitest";
import type { ProfileJob } from "@/server/contracts/studio";
import { makingText, prepareMakeWorkload } from "./prepareMakeWorkload";
import { testJob } from "./testProfile";

const none = { gate: null, label: null, part: null, name: "support" };
const [gate, label] = testJob().measures;
const withMeasures = (...measures: readonly (ProfileJob["measures"][number] | undefined)[]) =>
  testJob({ measures: measures.filter((each) => each !== undefined) });

it("takes a judge as the gate and another measure as the label, without being told", () => {
  expect(prepareMakeWorkload(testJob(), none)).toMatchObject({ gate: "gate", label: "label", blocked: null });
  expect(prepareMakeWorkload(withMeasures(label, gate), none)).toMatchObject({ gate: "gate", label: "label" });
});

it("says of each measure that cannot be chosen why", () => {
  const { gates, labels } = prepareMakeWorkload(testJob(), none);
  expect(gates.map(({ refusal }) => refusal)).toEqual([null, "a gate has no reference answer"]);
  expect(labels.map(({ refusal }) => refusal)).toEqual(["it is the gate: another measure gives the quality", null]);
});

it("takes no measure for gate and label at once, and says what to do where there is one only", () => {
  const picture = prepareMakeWorkload(withMeasures(gate), none);
  expect(picture).toMatchObject({ gate: "gate", label: null });
  expect(picture.blocked).toContain("a second judge, references or tests");
  expect(prepareMakeWorkload(withMeasures(label), none).blocked).toContain("No judge graded");
});

it("gives way where what was chosen as the label becomes the gate", () => {
  const second = gate === undefined ? undefined : { ...gate, id: "second", name: "Second" };
  expect(prepareMakeWorkload(withMeasures(gate, second), { ...none, gate: "second", label: "second" })).toMatchObject({
    gate: "second",
    label: "gate",
  });
});

it("offers each model as the peer of the others where texts are stored, and compares what the exact measure compares", () => {
  const { request } = testJob();
  const measures = request.measures.map((each) => (each.kind === "exact" ? { ...each, extract: "number" as const } : each));
  const { peers, part } = prepareMakeWorkload(testJob({ request: { ...request, measures } }), none);
  expect(peers?.map(({ value }) => value)).toEqual(["", "llama-3.1-8b", "llama-3.1-70b"]);
  expect(part).toBe("number");
  expect(prepareMakeWorkload(testJob(), { ...none, part: "choice" }).part).toBe("choice");
  expect(prepareMakeWorkload(testJob({ hasAnswers: false }), none).peers).toBeNull();
});

it("warns of what is not measured yet, and of a gate that sees more than it will while serving", () => {
  const { notes } = prepareMakeWorkload(testJob(), none);
  expect(notes).toEqual([
    "At most 50 of 500 prompts have an answer of every model and both scores: the others are left out.",
    expect.stringMatching(/^2,400 calls are not made yet.*random part of the sample/),
    expect.stringContaining("not missing at random"),
  ]);
  const [first, second] = testJob().measures.map((each) => ({ ...each, scored: 1000, unscored: {} }));
  const whole = { ...withMeasures(first, second), total: { planned: 3000, done: 3000, failed: 0, inFlight: 0 } };
  const done = { ...whole, models: whole.models.map((each) => ({ ...each, done: 500 })) };
  expect(prepareMakeWorkload(done, none).notes).toEqual([]);
  const byReference = gate === undefined ? undefined : { ...gate, kind: "reference" as const };
  expect(prepareMakeWorkload(withMeasures(byReference, label), none).notes.at(-1)).toContain("sees no reference answer");
});

it("needs answers and a name", () => {
  expect(prepareMakeWorkload(testJob({ total: { planned: 10, done: 0, failed: 0, inFlight: 2 } }), none).blocked).toBe(
    "No prompt was answered yet.",
  );
  expect(prepareMakeWorkload(testJob(), { ...none, name: " " }).blocked).toBe("Give the workload a name.");
});

it("says of a workload that is being made which scorers are trained, once they are", () => {
  expect(makingText(null)).toBe("Reading the measurements …");
  expect(makingText({ training: null })).toBe("Reading the measurements …");
  expect(makingText({ training: { model: "8b", done: 2, of: 6 } })).toContain("8b, 2 of 6 done");
});
