import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memberSpan } from "./memberSpan";

const spanIn = (text: string, members: number) => memberSpan(Buffer.from(text), "model", members);

describe("the span of a member", () => {
  it("is that of its value, wherever it stands, so that only this value is replaced", () => {
    const keys = fc.oneof(fc.constantFrom("models", "mode", "messages", "", "{", ":"), fc.string());
    const body = fc.dictionary(keys, fc.jsonValue()).filter((one) => Object.keys(one).every((key) => JSON.stringify(key) === `"${key}"`));
    fc.assert(
      fc.property(body, fc.jsonValue(), fc.nat(), fc.constantFrom(undefined, 1, "\t"), (others, model, place, indent) => {
        const entries = Object.entries(others).filter(([name]) => name !== "model" && name !== "__proto__");
        entries.splice(place % (entries.length + 1), 0, ["model", model]);
        const value = Object.fromEntries(entries);
        const bytes = Buffer.from(JSON.stringify(value, null, indent));
        const span = memberSpan(bytes, "model", entries.length);
        expect(span).not.toBeNull();
        const { from, to } = span!;
        expect(JSON.parse(bytes.toString("utf8", from, to))).toEqual(JSON.parse(JSON.stringify(model)));
        const replaced = Buffer.concat([bytes.subarray(0, from), Buffer.from('"other"'), bytes.subarray(to)]).toString();
        expect(JSON.parse(replaced)).toEqual(JSON.parse(JSON.stringify({ ...value, model: "other" })));
        expect(Object.keys(JSON.parse(replaced))).toEqual(Object.keys(value));
      }),
    );
  });

  it.each([
    ["is absent", '{"messages":[{"model":"inner"}]}', 1],
    ["occurs twice", '{"model":"a","model":"b"}', 1],
    ["stands beside another that occurs twice", '{"model":"a","n":1,"n":2}', 2],
    ["may be named by escapes as well", '{"model":"a","mod\\u0065l":"b"}', 1],
  ])("is unknown where the member %s", (_, text, members) => {
    expect(spanIn(text, members)).toBeNull();
  });

  it("does not take texts that contain its name, or quotes, for the member", () => {
    const text = String.raw`{"prompt":"\\\",\"model\":\"x\"","model" : "a","list":["model",{"model":"y"}]}`;
    const { from, to } = spanIn(text, 3)!;
    expect(text.slice(from, to)).toBe(' "a"');
  });
});
