import { describe, expect, it } from "vitest";
import { hasBrokenStructure } from "./brokenStructure";

const saying = (message: object) => ({ choices: [{ index: 0, message: { role: "assistant", content: null, ...message } }] });
const json = { response_format: { type: "json_object" } };
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
    ["a call without arguments", {}, calling(undefined), true],
    ["an older call with cut arguments", {}, saying({ function_call: { name: "f", arguments: "{" } }), true],
    ["a tool that takes free text", {}, saying({ tool_calls: [{ id: "a", type: "custom", custom: { input: "{" } }] }), false],
    ["no choice", json, { choices: [] }, false],
  ] as const)("tells of %s", (_, body, completion, broken) => expect(hasBrokenStructure(body, completion)).toBe(broken));
});
