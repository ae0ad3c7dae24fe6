import { expect, test } from "vitest";
import { seededRandom } from "../numeric/random";
import { scoreDrift } from "./scoreDrift";

const random = seededRandom(3);
const scores = (count: number, shift = 0): number[] =>
  Array.from({ length: count }, () => Math.round(Math.min(100, Math.max(0, 60 + shift + 20 * random.normal()))));
const planned = scores(1500);

test("scores that go on as they were have not moved, and few tell nothing", () => {
  expect(scoreDrift(planned, scores(900))).toBeNull();
  expect(scoreDrift(planned, scores(190, -30))).toBeNull();
  expect(scoreDrift([], scores(900))).toBeNull();
});

test("scores that lie lower since have moved, and it is told by how much", () => {
  const moved = scoreDrift(planned, [...scores(200), ...scores(300, -12)]);
  expect(moved?.before).toBeCloseTo(60, -1);
  expect(moved?.now).toBeLessThan(53);
});

test("scores that moved and came back have not", () => {
  expect(scoreDrift(planned, [...scores(200, -12), ...scores(400)])).toBeNull();
});
