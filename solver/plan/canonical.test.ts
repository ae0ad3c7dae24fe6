import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, type Json } from "./canonical";

test("sorts keys and drops white space and undefined members", () => {
  expect(canonicalJson({ b: [1, 2], a: "x", c: undefined })).toBe('{"a":"x","b":[1,2]}');
});

test("reads back as the value it was made from", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("does not depend on the order in which members were written", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      const reversed = Object.fromEntries(Object.entries(object).reverse());
      expect(canonicalJson(reversed as Json)).toBe(canonicalJson(object as Json));
    }),
  );
});

test("refuses numbers that JSON cannot carry", () => {
  expect(() => canonicalJson({ p95Seconds: Number.POSITIVE_INFINITY })).toThrow("JSON cannot carry the number Infinity");
});
