import { describe, expect, it } from "vitest";
import { withColumns } from "@/solver/stageGates/testing/gateColumns";
import { generatedWorkload } from "./generated";
import { observedWorkload, withMirroredAnswers } from "./observedWorkload";
import type { ObservedRequest } from "./similarRows";
import { splitPrompts } from "./split";

const workload = withColumns(generatedWorkload({ prompts: 600, seed: 3 }));
const { outcomes } = workload;
const { heldOut } = splitPrompts(600, workload.seed);
const [small, large] = [outcomes.models[0], outcomes.models.at(-1)];
if (small === undefined || large === undefined) throw new Error("a ladder has models");

/** A request that the small model alone answered, with the confidence of its gate. */
const seenBySmall = (row: number, at: number): ObservedRequest => ({
  arrivalSeconds: at,
  inputTokens: outcomes.inputTokens[row] ?? 0,
  visits: [{ model: small.model, outputTokens: small.outputTokens[row] ?? 0, judged: null, confidence: small.confidence?.[row] ?? 0 }],
});
/** The same, mirrored: the judge's score of the large model is 20 points below the workload's. */
const mirroredAs = (row: number, at: number): ObservedRequest => {
  const own = seenBySmall(row, at);
  const judged = Math.max(0, (large.judged[row] ?? 0) - 20);
  return { ...own, visits: [...own.visits, { model: large.model, outputTokens: 1000 + row, judged }] };
};
const requests = Array.from(heldOut.slice(0, 150), seenBySmall);
const mirrored = Array.from(heldOut.slice(0, 60), mirroredAs);
const filled = withMirroredAnswers(workload, requests, mirrored);

describe("requests with the answers of mirrored ones", () => {
  it("have an answer of a mirrored request, mostly their own where they were mirrored themselves", () => {
    const [lengths, known] = [filled.map(({ visits }) => visits[1]?.outputTokens), mirrored.map(({ visits }) => visits[1]?.outputTokens)];
    expect(known.filter((tokens, at) => tokens === lengths[at]).length).toBeGreaterThan(0.8 * known.length);
    expect(lengths.every((tokens) => known.includes(tokens))).toBe(true);
    expect(filled.map(({ visits }) => visits[0])).toEqual(requests.map(({ visits }) => visits[0]));
  });

  it("make a workload whose scores of a model that no request reached are the mirror's, and keep the gate's own column", () => {
    const column = (made: ReturnType<typeof observedWorkload>, model: string) => made?.outcomes.models.find((own) => own.model === model);
    const mean = (values: ArrayLike<number> = []) => Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
    const now = observedWorkload(workload, filled, "now");
    const scores = new Set(mirrored.map(({ visits }) => visits[1]?.judged));
    expect(Array.from(column(now, large.model)?.judged ?? []).every((score) => scores.has(score))).toBe(true);
    const without = observedWorkload(workload, requests, "now");
    expect(mean(column(now, large.model)?.judged)).toBeLessThan(mean(column(without, large.model)?.judged) - 10);
    const seen = new Set(requests.map(({ visits }) => visits[0]?.confidence));
    expect(Array.from(column(now, small.model)?.confidence ?? []).every((score) => seen.has(score))).toBe(true);
  });

  it("of a judged cascade have no column of a gate that gave no score", () => {
    const judged = requests.map((request) => ({
      ...request,
      visits: request.visits.map(({ model, outputTokens }) => ({ model, outputTokens, judged: 50 })),
    }));
    expect(observedWorkload(workload, judged, "now")?.outcomes.models.every(({ confidence }) => confidence === undefined)).toBe(true);
  });
});
