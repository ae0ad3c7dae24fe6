import { expect, test } from "vitest";
import { halfValue, halfValues } from "./halfFloat";

test("known numbers of binary16 have the values of the standard", () => {
  const known = new Map([
    [0x0000, 0],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x3555, 0.333251953125],
    [0x3c00, 1],
    [0xc000, -2],
    [0x7bff, 65504],
    [0x7c00, Number.POSITIVE_INFINITY],
    [0xfc00, Number.NEGATIVE_INFINITY],
    [0x7e00, Number.NaN],
  ]);
  for (const [bits, value] of known) expect(halfValue(bits)).toBe(value);
  expect(Object.is(halfValue(0x8000), -0)).toBe(true);
});

test("finite numbers grow with their bits, and single precision holds each exactly", () => {
  const wrong: number[] = [];
  for (let bits = 1; bits < 0x7c00; bits += 1) {
    const value = halfValue(bits);
    const isRight = value > halfValue(bits - 1) && Math.fround(value) === value && halfValue(bits | 0x8000) === -value;
    if (!isRight) wrong.push(bits);
  }
  expect(wrong).toEqual([]);
});

test("an array is read in little-endian order, from wherever it begins in its buffer", () => {
  const bytes = Uint8Array.of(9, 0x00, 0x3c, 0x00, 0xc0);
  expect(Array.from(halfValues(bytes.subarray(1)))).toEqual([1, -2]);
});
