import { expect, test } from "vitest";
import { workflows } from "./templates";

const shapes = workflows.flatMap(({ name, stages, otherShapes = [] }) =>
  [stages, ...otherShapes.map((shape) => shape.stages)].map((of) => ({ name, stages: of })),
);

test("every workflow has its own name, a title and a source", () => {
  expect(new Set(workflows.map(({ name }) => name)).size).toBe(workflows.length);
  for (const { title, source } of workflows) expect(Math.min(title.length, source.length)).toBeGreaterThan(10);
});

test("stages read stages before them, each once and in order, and all but the last are read", () => {
  for (const { stages } of shapes) {
    for (const [at, { reads }] of stages.entries()) {
      expect([...new Set(reads)].sort((one, other) => one - other)).toEqual(reads);
      expect(reads.every((stage) => Number.isInteger(stage) && stage >= 0 && stage < at)).toBe(true);
    }
    const read = new Set(stages.flatMap(({ reads }) => reads));
    expect(read.size).toBe(stages.length - 1);
  }
});

test("workflows and roles are named in one word, as the headers of requests carry them", () => {
  for (const { name, stages } of shapes)
    for (const word of [name, ...stages.map(({ role }) => role)]) expect(word).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
});

test("stages have instructions, write something and have an answer by the end", () => {
  for (const { stages } of shapes) {
    for (const { instructionTokens, lengthRatio, lengthSpread } of stages) {
      expect(instructionTokens).toBeGreaterThan(0);
      expect(lengthRatio).toBeGreaterThan(0);
      expect(lengthSpread).toBeGreaterThanOrEqual(0);
    }
    expect(stages.some(({ part }) => part === "solves")).toBe(true);
  }
});

test("shapes beside a workflow's own leave it a share", () => {
  for (const { otherShapes = [] } of workflows) {
    const shares = otherShapes.map(({ share }) => share);
    expect(shares.every((share) => share > 0)).toBe(true);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThan(1);
  }
});

test("the shapes of one workflow begin alike, so that what comes cannot be read off what was", () => {
  for (const { stages, otherShapes = [] } of workflows) {
    for (const { stages: others } of otherShapes) expect(others[0]).toEqual(stages[0]);
    for (const { stages: longer } of otherShapes.filter((shape) => shape.stages.length > stages.length)) {
      expect(longer.slice(0, stages.length)).toEqual(stages);
    }
  }
});
