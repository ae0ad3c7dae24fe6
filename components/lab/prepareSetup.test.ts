import { expect, it } from "vitest";
import { labReplicasSchema } from "@/solver/lab/labSpec";
import { RefusedError } from "../api/unwrapOutcome";
import {
  describedRun,
  enginesText,
  placedRefusal,
  repeatedRates,
  requestsAtOnce,
  setupRefusal,
  setupWorkloads,
  suggestedWorkload,
  withRequestsAtOnce,
} from "./prepareSetup";
import { parseSpec } from "./specText";
import { testRun, testSpec } from "./testRun";

const workloads = ["w1", "w2"].map((id) => ({ id, name: `name of ${id}`, version: 1 }));

it("says so where the workload of an address is gone and another stands in its place", () => {
  expect(suggestedWorkload(workloads, "w2", "w1")).toEqual({ id: "w2", note: null });
  expect(suggestedWorkload(workloads, null, "w2")).toEqual({ id: "w2", note: null });
  const gone = suggestedWorkload(workloads, "nonesuch", "w2");
  expect(gone).toEqual({ id: "w2", note: expect.stringContaining("name of w2 is used instead") });
  expect(suggestedWorkload([], "nonesuch", null)).toEqual({ id: null, note: null });
});

it("shows a workload that is gone as chosen, and refuses to race it, with the way on", () => {
  expect(setupWorkloads(workloads, "w2").map(({ value }) => value)).toEqual(["w1", "w2"]);
  const options = setupWorkloads(workloads, "abab0000");
  expect(options[0]).toEqual({ value: "abab0000", text: "a workload that is not stored here (abab0000)" });
  expect(options).toHaveLength(3);
  expect(setupRefusal({ ...testSpec, workloadId: "abab0000" }, workloads)).toMatch(/not stored here: choose another/);
  expect(setupRefusal(testSpec, workloads)).toBeNull();
});

it("shows what vLLM takes by itself where a description says nothing of requests at once, and describes it no differently", () => {
  const [plain] = testSpec.replicas;
  if (plain === undefined) throw new Error("The description has engines");
  expect(requestsAtOnce(plain)).toBe(256);
  const few = withRequestsAtOnce(plain, 16);
  expect(labReplicasSchema.parse(few)).toEqual({ ...plain, maxSequences: 16 });
  expect(requestsAtOnce(few)).toBe(16);
  expect(withRequestsAtOnce(few, 256)).toEqual(plain);
  expect(Object.keys(withRequestsAtOnce(few, 256))).not.toContain("maxSequences");
  expect(enginesText([plain, { ...few, tp: 2, pp: 2, count: 3 }])).toBe(
    "1 × small on h100-sxm; 3 × small on h100-sxm, tp 2, pp 2, 16 requests at once",
  );
});

it("finds rates that stand there twice before they are run", () => {
  expect(repeatedRates([1, 2, 1, 1])).toEqual([2, 3]);
  expect(setupRefusal({ ...testSpec, rates: [3, 3] }, workloads)).toMatch(/^Rate 2 is listed twice/);
});

it("tells the place of a refusal in the words of the page", () => {
  const placed = (path: string, reason: string, of?: string) =>
    placedRefusal(new RefusedError({ message: `${path}: ${reason}`, field: { path, reason, ...(of !== undefined && { of }) } }), testSpec);
  expect(placed("rates.1", "13.8 is listed twice.")).toBe("Rate 2: 13.8 is listed twice.");
  expect(placed("replicas.0", "small with tp 3 does not fit.")).toBe("Engines, row 1: small with tp 3 does not fit.");
  expect(placed("replicas.1.model", "the workload has no answers.")).toBe("Engines, row 2: the workload has no answers.");
  expect(placed("systems.1.lengths", "no predictor.", "Chimera")).toBe("Chimera: no predictor.");
  expect(placed("systems.1.replicas.2", "too large.")).toBe("Chimera, its own engines, row 3: too large.");
  expect(placed("programs", "too many.")).toBe("Programs: too many.");
  expect(placed("else", "too many.")).toBe("else: too many.");
  for (const message of ["The studio is busy: wait.", "rates.1: 13.8 is listed twice."])
    expect(placedRefusal(new RefusedError({ message }), testSpec)).toBe(message);
});

it("puts a run's description into an address that names the run alone, and leaves a full one as it is", () => {
  const run = testRun();
  const added = describedRun({ run: run.id, spec: null }, run);
  expect(parseSpec(added?.spec ?? "")).toEqual(run.spec);
  expect(describedRun({ run: run.id, spec: added?.spec ?? null }, run)).toBeNull();
  expect(describedRun({ run: "another", spec: null }, run)).toBeNull();
});
