import { expect, test } from "vitest";
import { labSystemSchema } from "./labSpec";
import { systemVariants } from "./systemVariants";

const model = (name: string) => ({ model: name, decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 });
const slack = (name: string, tau: number, deltaScore: number) =>
  labSystemSchema.parse({
    ...{ name, lengths: "none", confidence: "none" },
    policy: {
      ...{ kind: "slack", models: [model("m"), model("n")], tau, deltaScore },
      ...{ floorSeconds: 1, order: { kind: "fcfs" }, place: { kind: "least-load" } },
      approvedRanges: { tau: { min: 0, max: 4 }, deltaScore: { min: 0, max: 1 } },
    },
  });
const fixed = (name: string) =>
  labSystemSchema.parse({
    ...{ name, lengths: "none", confidence: "none" },
    policy: { kind: "fixed", model: "m", order: { kind: "fcfs" }, place: { kind: "least-load" } },
  });

test("systems of one name are told apart by what differs in them", () => {
  expect(systemVariants([slack("a", 0.5, 0), slack("b", 2, 0), slack("b", 2, 0.1)])).toEqual(["", "margin 0", "margin 0.1"]);
  expect(systemVariants([slack("a", 0, 0), slack("a", 1, 0)])).toEqual(["τ 0", "τ 1"]);
  expect(systemVariants([slack("a", 0, 0), slack("a", 1, 0), slack("a", 1, 0.2)])).toEqual([
    ...["τ 0, margin 0", "τ 1, margin 0", "τ 1, margin 0.2"],
  ]);
});

test("systems that no slack tells apart are numbered among their namesakes", () => {
  expect(systemVariants([fixed("b"), slack("a", 1, 0), fixed("a"), slack("a", 1, 0)])).toEqual(["", "#1", "#2", "#3"]);
  expect(systemVariants([slack("a", 1, 0), slack("a", 1, 0)])).toEqual(["#1", "#2"]);
});
