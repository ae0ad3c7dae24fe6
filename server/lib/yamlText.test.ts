import { expect, test } from "vitest";
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
