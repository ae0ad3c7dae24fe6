import { describe, expect, it } from "vitest";
import { bodyOf, recordedVllm } from "@/server/engines/testing/recordedEngine";
import { hasBrokenStructure } from "./brokenStructure";

const saying = (message: object) => ({ choices: [{ index: 0, message: { role: "assistant", content: null, ...message } }] });
const json = { response_format: { type: "json_object" } };
const asking = (parameters: object) => ({ tools: [{ type: "function", function: { name: "f", parameters } }] });
const olderAsking = { functions: [{ name: "f", parameters: { required: ["city"] } }] };
const older = (args: string) => saying({ function_call: { name: "f", arguments: args } });
const calling = (args: unknown) => saying({ tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: args } }] });

describe("hasBrokenStructure", () => {
  it.each([
    ["text, where none asks for JSON", {}, saying({ content: "{" }), false],
    ["JSON where it is asked for", json, saying({ content: '{"a": [1]}' }), false],
    ["a text where JSON is asked for", json, saying({ content: "Sure!" }), true],
    ["nothing where JSON is asked for", json, saying({ content: "" }), true],
    ["JSON that was cut, by a schema", { response_format: { type: "json_schema" } }, saying({ content: '{"a": [1' }), true],
    ["text in a format that is text", { response_format: { type: "text" } }, saying({ content: "{" }), false],
    ["a continuation that is no JSON", json, { choices: [{ index: 0, text: "{" }] }, true],
    ["a call with arguments", {}, calling('{"city": "Paris"}'), false],
    ["a call in place of the JSON that is asked for", json, calling("{}"), false],
    ["a call with cut arguments", {}, calling('{"city": "Pa'), true],
    ["a call with empty arguments of a function that takes none", asking({}), calling(""), false],
    ["a call with an empty object for them", asking({}), calling("{}"), false],
    ["a call without arguments of a function that takes none", asking({}), calling(undefined), false],
    ["a call with null for them", asking({}), calling(null), false],
    ["a call with empty arguments of a function that is not declared", {}, calling(""), false],
    ["a call with empty arguments where some may be left out", asking({ properties: { city: {} } }), calling(" "), false],
    ["a call with empty arguments where one is required", asking({ required: ["city"] }), calling(""), true],
    ["an older call with empty arguments where one is required", olderAsking, older(""), true],
    ["an older call with empty arguments of another function", olderAsking, saying({ function_call: { name: "g", arguments: "" } }), false],
    ["a call with its arguments as an object", asking({ required: ["city"] }), calling({ city: "Paris" }), false],
    ["a call with a list in place of its arguments", {}, calling(["Paris"]), true],
    ["a call without a function", {}, saying({ tool_calls: [{ id: "a", type: "function" }] }), true],
    ["an older call with cut arguments", {}, saying({ function_call: { name: "f", arguments: "{" } }), true],
    ["a tool that takes free text", {}, saying({ tool_calls: [{ id: "a", type: "custom", custom: { input: "{" } }] }), false],
    ["a tool that takes free text, in place of JSON", json, saying({ tool_calls: [{ id: "a", type: "custom" }] }), false],
    ["no text at all where JSON is asked for", json, saying({ reasoning: "Hm" }), true],
    ["a refusal where JSON is asked for", json, saying({ refusal: "No." }), false],
    ["a text where vLLM's own field asks for JSON", { structured_outputs: { json: {} } }, saying({ content: '{"a": ' }), true],
    ["a text where vLLM's older field asks for JSON", { guided_json: {} }, saying({ content: '{"a": ' }), true],
    ["a text where vLLM's own field asks for a pattern", { structured_outputs: { regex: "a" } }, saying({ content: "a" }), false],
    ["no choice", json, { choices: [] }, false],
  ] as const)("tells of %s", (_, body, completion, broken) => expect(hasBrokenStructure(body, completion)).toBe(broken));

  it("takes every whole tool call of a real vLLM", () => {
    const calls = recordedVllm().exchanges.flatMap((exchange) => {
      const { request, response } = exchange;
      const isWhole = response.status === 200 && !response.cut && (response.headers["content-type"] ?? "").startsWith("application/json");
      return isWhole && bodyOf(exchange).includes('"type":"function"')
        ? [{ body: JSON.parse(request.body ?? "{}") as Record<string, unknown>, completion: JSON.parse(bodyOf(exchange)) as unknown }]
        : [];
    });
    expect(calls.length).toBeGreaterThanOrEqual(2);
    for (const { body, completion } of calls) expect(hasBrokenStructure(body, completion)).toBe(false);
  });
});
