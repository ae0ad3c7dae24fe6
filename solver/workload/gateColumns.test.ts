import { describe, expect, it } from "vitest";
import { tableRows } from "@/solver/baselines/halves";
import { gateColumnsOf, mapGateColumns } from "./gateColumns";
import { generatedWorkload } from "./generated";

const { outcomes } = generatedWorkload({ prompts: 4, seed: 1 });
const confidence = Float64Array.of(10, 20, 30, 40);

describe("gate columns", () => {
  it("names and changes the columns that outcomes have, and adds none", () => {
    expect(gateColumnsOf({ confidence })).toEqual(["confidence"]);
    expect(mapGateColumns({ confidence }, (column) => column.map((value) => value / 10))).toEqual({
      confidence: Float64Array.of(1, 2, 3, 4),
    });
    expect(mapGateColumns({}, (column) => column)).toEqual({});
  });

  it("go along with the rows of a table", () => {
    const models = outcomes.models.map((model, at) => (at === 0 ? { ...model, confidence } : model));
    const [first, second] = tableRows({ ...outcomes, models }, Int32Array.of(3, 1)).models;
    expect(first?.confidence).toEqual(Float64Array.of(40, 20));
    expect(second).not.toHaveProperty("confidence");
  });
});
