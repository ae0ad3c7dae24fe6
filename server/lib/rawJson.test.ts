import fc from "fast-check";
import { expect, it } from "vitest";
import { rawElements, rawMembers } from "./rawJson";

it("gives every value of an object as it is written there", () => {
  const spaced = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2, "\t"));
  fc.assert(
    fc.property(spaced, ([object, space]) => {
      const members = rawMembers(JSON.stringify(object, null, space));
      const parsed = [...members].map(([name, raw]) => [name, JSON.parse(raw)]);
      expect(new Map(parsed as [string, unknown][])).toEqual(new Map(Object.entries(JSON.parse(JSON.stringify(object)))));
      for (const raw of members.values()) expect(raw).toBe(raw.trim());
    }),
  );
});

it("gives every element of an array as it is written there", () => {
  const spaced = fc.tuple(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2, "\t"));
  fc.assert(
    fc.property(spaced, ([array, space]) => {
      const elements = rawElements(JSON.stringify(array, null, space));
      expect(elements.map((raw) => JSON.parse(raw))).toEqual(JSON.parse(JSON.stringify(array)));
    }),
  );
});

it("keeps numbers that JavaScript would write otherwise, and escapes", () => {
  const members = rawMembers('{"a": 1.0, "b" : [12345678901234567890, {"}": "\\"]"}] ,"c":1e400, "d\\u0022": "\\u00e9"}');
  expect([...members]).toEqual([
    ["a", "1.0"],
    ["b", '[12345678901234567890, {"}": "\\"]"}]'],
    ["c", "1e400"],
    ['d"', '"\\u00e9"'],
  ]);
});
