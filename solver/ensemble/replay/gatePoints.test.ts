import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { pairedDifference } from "./gatePoints";

test("it lies in its interval, changes sign with the ways' order, and narrows with more questions", () => {
  fc.assert(
    fc.property(fc.nat({ max: 200 }), fc.nat({ max: 200 }), fc.nat({ max: 2000 }), (gained, lost, same) => {
      const questions = gained + lost + same;
      const { value, low, high } = pairedDifference({ questions, gained, lost });
      const other = pairedDifference({ questions, gained: lost, lost: gained });
      expect(low).toBeLessThanOrEqual(value);
      expect(high).toBeGreaterThanOrEqual(value);
      expect(other.low).toBeCloseTo(-high, 12);
      const more = pairedDifference({ questions: 10 * questions, gained: 10 * gained, lost: 10 * lost });
      expect(more.high - more.low).toBeLessThanOrEqual(high - low);
    }),
  );
});

test("two ways that never differed on twenty questions may differ by several points", () => {
  const { value, low, high } = pairedDifference({ questions: 20, gained: 0, lost: 0 });
  expect([value, low < -0.05, high > 0.05]).toEqual([0, true, true]);
});

test.each([
  [30, 0.02, 0.05],
  [100, 0.01, 0.01],
  [100, 0.1, 0.02],
  [800, 0.03, 0.05],
])("of %d questions its low end is above the truth in about one of twenty draws", (questions, gains, losses) => {
  const random = seededRandom(questions);
  const draws = 4000;
  let above = 0;
  for (let draw = 0; draw < draws; draw += 1) {
    let [gained, lost] = [0, 0];
    for (let question = 0; question < questions; question += 1) {
      const at = random.next();
      if (at < gains) gained += 1;
      else if (at < gains + losses) lost += 1;
    }
    if (pairedDifference({ questions, gained, lost }).low > gains - losses) above += 1;
  }
  expect(above / draws).toBeLessThan(0.065);
});
