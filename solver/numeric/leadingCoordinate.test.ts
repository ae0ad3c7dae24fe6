import fc from "fast-check";
import { expect, test } from "vitest";
import { leadingCoordinate } from "./leadingCoordinate";
import { seededRandom } from "./random";

/** Each pair i > j is at `i * (i - 1) / 2 + j`. */
const squaresOf = (count: number, distance: (i: number, j: number) => number): Float32Array =>
  Float32Array.from(Array.from({ length: count }, (_, i) => Array.from({ length: i }, (__, j) => distance(i, j) ** 2)).flat());

const doublyCentred = (squares: Float32Array, count: number): number[][] => {
  const full = Array.from({ length: count }, (_, i) =>
    Array.from({ length: count }, (__, j) => (i === j ? 0 : squares[(Math.max(i, j) * (Math.max(i, j) - 1)) / 2 + Math.min(i, j)]!)),
  );
  const means = full.map((row) => row.reduce((sum, value) => sum + value, 0) / count);
  const whole = means.reduce((sum, value) => sum + value, 0) / count;
  return full.map((row, i) => row.map((value, j) => -(value - means[i]! - means[j]! + whole) / 2));
};

/** Eigenvalues of a symmetric matrix, largest first, and the vector of the first, by Jacobi's rotations. */
function jacobi(matrix: readonly (readonly number[])[]): { readonly values: readonly number[]; readonly vector: readonly number[] } {
  const a = matrix.map((row) => [...row]);
  const vectors = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
  const rotate = (rows: number[][], [p, q]: readonly [number, number], [c, s]: readonly [number, number]): void => {
    for (const row of rows) [row[p], row[q]] = [c * row[p]! - s * row[q]!, s * row[p]! + c * row[q]!];
  };
  for (let sweep = 0; sweep < 30; sweep += 1) {
    for (let q = 1; q < a.length; q += 1) {
      for (let p = 0; p < q; p += 1) {
        if (a[p]![q] === 0) continue;
        const angle = Math.atan2(2 * a[p]![q]!, a[q]![q]! - a[p]![p]!) / 2;
        const turn = [Math.cos(angle), Math.sin(angle)] as const;
        rotate(a, [p, q], turn);
        const [above, below] = [[...a[p]!], [...a[q]!]];
        a[p] = above.map((value, at) => turn[0] * value - turn[1] * below[at]!);
        a[q] = below.map((value, at) => turn[1] * above[at]! + turn[0] * value);
        rotate(vectors, [p, q], turn);
      }
    }
  }
  const order = a.map((_, at) => at).sort((one, other) => a[other]![other]! - a[one]![one]!);
  return { values: order.map((at) => a[at]![at]!), vector: vectors.map((row) => row[order[0]!]!) };
}

/** The largest difference, with the sign of one vector that minimises it. */
const apart = (one: ArrayLike<number>, other: ArrayLike<number>): number =>
  Math.min(...[1, -1].map((sign) => Math.max(...Array.from(one, (value, at) => Math.abs(sign * value - other[at]!)))));

const expectJacobis = (squares: Float32Array, start: Float64Array): void => {
  const { coordinates, eigenvalue } = leadingCoordinate(squares, start);
  const { values, vector } = jacobi(doublyCentred(squares, start.length));
  const [first, second] = [values[0]!, values[1]!];
  const size = Math.max(...values.map(Math.abs));
  expect(Math.abs(eigenvalue - first)).toBeLessThan(1e-6 * size);
  // Between axes of equal length any direction is as good.
  if (first - second < 0.02 * size) return;
  const truth = vector.map((value) => value * Math.sqrt(first));
  expect(apart(coordinates, truth)).toBeLessThan(1e-6 * Math.sqrt(size));
};

const anyStart = (count: number): fc.Arbitrary<Float64Array> =>
  fc
    .array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: count, maxLength: count })
    .map((values) => Float64Array.from(values));

test("it is the leading axis that a dense eigenvalue solver finds, whatever the distances and the start", () => {
  const drawn = fc.integer({ min: 2, max: 12 }).chain((count) => {
    const pairs = (count * (count - 1)) / 2;
    return fc.tuple(fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: pairs, maxLength: pairs }), anyStart(count));
  });
  fc.assert(
    fc.property(drawn, ([distances, start]) =>
      expectJacobis(
        Float32Array.from(distances, (distance) => distance ** 2),
        start,
      ),
    ),
    { numRuns: 300 },
  );
});

test("it is that of many points too, of which no few steps span the space", () => {
  const random = seededRandom(4);
  const places = Array.from({ length: 90 }, () => [3 * random.normal(), 2 * random.normal(), random.normal()]);
  const between = (i: number, j: number): number => places[i]!.reduce((sum, value, at) => sum + Math.abs(value - places[j]![at]!), 0);
  expectJacobis(squaresOf(places.length, between), new Float64Array(places.length));
});

test("points on a line keep their distances", () => {
  const place = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(fc.array(place, { minLength: 2, maxLength: 40 }), (places) => {
      const { coordinates } = leadingCoordinate(
        squaresOf(places.length, (i, j) => places[i]! - places[j]!),
        Float64Array.from(places),
      );
      const centre = places.reduce((sum, value) => sum + value, 0) / places.length;
      const centred = places.map((value) => value - centre);
      expect(apart(coordinates, centred)).toBeLessThanOrEqual(1e-6 * Math.max(...centred.map(Math.abs), 1e-15));
    }),
  );
});

test("of distances that no space has, the largest eigenvalue leads although a negative one is further from zero", () => {
  // Two groups of three: 1 apart across and 2 within. The difference of the groups has -3.5, what varies within them 2.
  const squares = squaresOf(6, (i, j) => (i % 2 === j % 2 ? 2 : 1));
  const { eigenvalue, coordinates } = leadingCoordinate(squares, Float64Array.from([1, -1, 1, -1, 1, -1]));
  expect(eigenvalue).toBeCloseTo(2, 6);
  expect(coordinates.reduce((sum, value) => sum + value ** 2, 0)).toBeCloseTo(2, 6);
  expect(Math.abs(coordinates[0]! + coordinates[2]! + coordinates[4]!)).toBeLessThan(1e-6);
});

test("a start at right angles to the axis, or of one number throughout, finds it as well", () => {
  // A rectangle, 4 by 1.
  const places = [0, 4].flatMap((x) => [0, 1].map((y) => [x, y] as const));
  const squares = squaresOf(4, (i, j) => Math.hypot(places[i]![0] - places[j]![0], places[i]![1] - places[j]![1]));
  for (const start of [places.map(([, y]) => y), [1, 1, 1, 1], [0, 0, 0, 0]]) {
    const { coordinates } = leadingCoordinate(squares, Float64Array.from(start));
    expect(apart(coordinates, [-2, -2, 2, 2])).toBeLessThan(1e-6);
  }
});

test("no point, one point and points that are one have no axis, and no number is amiss", () => {
  for (const count of [0, 1, 2, 5]) {
    const { coordinates, eigenvalue, meanSquares } = leadingCoordinate(
      squaresOf(count, () => 0),
      new Float64Array(count),
    );
    expect([eigenvalue, ...coordinates, ...meanSquares].map(Math.abs)).toEqual(new Array(2 * count + 1).fill(0));
  }
});

test("mean squares are those of each point, for odd and even numbers of points", () => {
  for (const count of [2, 3, 6, 7]) {
    const { meanSquares } = leadingCoordinate(
      squaresOf(count, (i, j) => i - j),
      new Float64Array(count),
    );
    for (const i of meanSquares.keys()) {
      expect(meanSquares[i]).toBeCloseTo(Array.from({ length: count }, (_, j) => (i - j) ** 2).reduce((a, b) => a + b) / count, 9);
    }
  }
});
