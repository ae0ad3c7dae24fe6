import fc from "fast-check";
import { expect, it } from "vitest";
import { packText, unpackText } from "./packText";

it("gives back every text it packed, in characters that addresses carry as they are", () => {
  const repeating = fc.array(fc.constantFrom('{"kind":"slack"', "ü€😀", "0.25", "abcab"), { maxLength: 60 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "grapheme" }), repeating), fc.constantFrom("", '{"kind":"slack","tau":0.25}'), (text, known) => {
      const packed = packText(text, known);
      expect(packed).toMatch(/^[\w-]*$/);
      expect(unpackText(packed, known)).toBe(text);
    }),
  );
});

it("writes what is repeated once", () => {
  const one = JSON.stringify({ kind: "slack", models: [{ model: "qwen2.5-7b", decodeSecondsPerToken: 0.0123456789 }] });
  expect(packText(one.repeat(40), "").length).toBeLessThan(packText(one, "").length + 12);
  expect(packText(one, one).length).toBeLessThan(8);
});

it("finds nothing in what nobody packed", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const found = unpackText(text, "known");
      expect(found === null || typeof found === "string").toBe(true);
    }),
  );
  const packed = packText("a description of some length, and of some length again", "");
  for (let cut = 1; cut < packed.length; cut += 1)
    expect(unpackText(packed.slice(0, cut), "")).not.toBe("a description of some length, and of some length again");
  expect(unpackText("not/url+safe", "")).toBeNull();
});
