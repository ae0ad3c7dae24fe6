import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { yamlDocuments, yamlText } from "./yamlText";

test("plain words stand without quotes, and everything that a reader may take for something else in quotes", () => {
  expect(yamlText({ image: "vllm/vllm-openai:v1", args: ["--port", "n", "1:30", "=", "<<", "- x", "a # b"] })).toBe(
    'image: vllm/vllm-openai:v1\nargs:\n  - --port\n  - "n"\n  - "1:30"\n  - "="\n  - "<<"\n  - "- x"\n  - "a # b"\n',
  );
  expect(yamlDocuments(["a", "b"])).toBe("a\n---\nb\n");
});

test("a special character is one escape, as readers other than JavaScript's want it", () => {
  expect(yamlText("a\u2028\u0085\u007f")).toBe('"a\\u2028\\u0085\\u007f"\n');
  expect(yamlText("a\u{e0001}")).toBe('"a\\U000e0001"\n');
});

test("blanks, tabs and line ends come back as they were, whatever they stand between, in both versions", () => {
  const text = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "a", ":", "-", "#"), maxLength: 8 });
  fc.assert(
    fc.property(text, fc.constantFrom("1.1" as const, "1.2" as const), (value, version) => {
      expect(parse(yamlText({ list: [value], value, last: 1 }), { version })).toEqual({ list: [value], value, last: 1 });
    }),
    { numRuns: 2000 },
  );
});
