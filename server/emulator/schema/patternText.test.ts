import { describe, expect, it } from "vitest";
import { patternText } from "./patternText";

describe("a text of a pattern", () => {
  it.each([
    ["^\\d{3}-\\d{4}$", 0],
    ["^[A-Za-z_][A-Za-z0-9_]*$", 12],
    ["^(?:https?|ftp)://[^/\\s]+/.*$", 40],
    ["^(?<year>\\d{4})(-\\d\\d)?$", 6],
    ["^[^a0A]$", 0],
    ["^[\\]x]+\\.$", 3],
    ["(ab)+|c", 7],
    ["^$", 0],
  ])("%s of at least %i characters matches it", (pattern, least) => {
    const text = patternText(pattern, least);
    expect(text).toMatch(new RegExp(`^(?:${pattern})$`, "u"));
    expect(text.length).toBeGreaterThanOrEqual(least);
  });

  it.each(["(?=a)b", "(a)\\1", "\\bword\\b", "a{100000}", "(a{900}){900}", "(", "[a", "[^\\s\\S]"])("%s is refused", (pattern) => {
    expect(() => patternText(pattern)).toThrow("Emulated engines do not write texts of the pattern");
  });
});
