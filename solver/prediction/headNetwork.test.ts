import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { allLogits } from "./headBank";
import { hiddenUnits, networkEpochs, networkLoss } from "./headNetwork";

/** Rows of normal features, and outcomes of two heads: whether the first two features have one sign, and whether they have not. */
function drawn(rows: number, features: number, seed: number) {
  const random = seededRandom(seed);
  const values = Float32Array.from({ length: rows * features }, () => random.normal());
  const right = Float32Array.from({ length: rows * 2 }, (_, at) => {
    const row = Math.floor(at / 2) * features;
    return (Math.sign(values[row]!) === Math.sign(values[row + 1]!)) === (at % 2 === 0) ? 1 : 0;
  });
  const outcomes = { right, stride: 2, weight: new Float32Array(rows).fill(1), outcomes: Int32Array.of(0, 1) };
  return { matrix: { rows, features, values }, outcomes };
}

const settings = { units: 8, penalty: 1e-4, seed: 3 };

/** The network after some epochs on the rows. */
function trained({ matrix, outcomes }: ReturnType<typeof drawn>, epochs: number) {
  const training = networkEpochs(matrix, outcomes, settings);
  for (let epoch = 1; epoch < epochs; epoch += 1) training.next();
  return training.next().value;
}

describe("a network of heads", () => {
  it("has the gradient that finite differences have", () => {
    const shape = fc.record({
      features: fc.integer({ min: 1, max: 4 }),
      units: fc.integer({ min: 1, max: 3 }),
      heads: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(shape, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (of, seed, penalty) => {
        const random = seededRandom(seed);
        const rows = 5;
        const weight = Float64Array.from({ length: rows }, () => random.next() + 0.1);
        const given = {
          matrix: { rows, features: of.features, values: Float32Array.from({ length: rows * of.features }, () => random.normal()) },
          target: Float64Array.from({ length: rows * of.heads }, () => random.next()),
          share: weight.map((each) => each / weight.reduce((sum, one) => sum + one, 0)),
        };
        const numbers = of.units * (1 + of.features) + of.heads * (1 + of.units);
        const point = Float64Array.from({ length: numbers }, () => random.normal());
        const [gradient, unused] = [new Float64Array(numbers), new Float64Array(numbers)];
        networkLoss(of, point, { ...given, penalty }, gradient);
        for (let at = 0; at < numbers; at += 1) {
          const lossAt = (by: number) => networkLoss(of, point.with(at, point[at]! + by), { ...given, penalty }, unused);
          expect(gradient[at]).toBeCloseTo((lossAt(1e-5) - lossAt(-1e-5)) / 2e-5, 6);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("learns what no head on the features alone can", () => {
    const { layer, heads } = trained(drawn(400, 3, 1), 150);
    const { matrix, outcomes } = drawn(200, 3, 2);
    const logits = allLogits(heads, hiddenUnits(layer, matrix));
    const right = logits.filter((logit, at) => logit > 0 === outcomes.right[at]! > 0.5).length;
    expect(right / logits.length).toBeGreaterThan(0.9);
  });

  it("is the same for the same rows and seed, and another for another seed", () => {
    const rows = drawn(100, 3, 1);
    expect(trained(rows, 3)).toEqual(trained(rows, 3));
    const other = networkEpochs(rows.matrix, rows.outcomes, { ...settings, seed: 4 });
    expect(other.next().value).not.toEqual(trained(rows, 1));
  });

  it("counts rows of no weight as none, and stays finite where all have one outcome", () => {
    const { matrix, outcomes } = drawn(64, 3, 1);
    const weight = Float32Array.from({ length: 64 }, (_, row) => (row < 32 ? 1 : 0));
    const flipped = outcomes.right.map((each, at) => (at < 64 ? each : 1 - each));
    expect(trained({ matrix, outcomes: { ...outcomes, weight } }, 3)).toEqual(
      trained({ matrix, outcomes: { ...outcomes, weight, right: flipped } }, 3),
    );
    const sure = trained({ matrix, outcomes: { ...outcomes, right: new Float32Array(128).fill(1) } }, 5);
    expect(sure.heads.bias.every((bias) => bias > 0 && bias < 10)).toBe(true);
  });
});
