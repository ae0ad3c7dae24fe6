import { expect, it } from "vitest";
import { StreamScanner } from "../engines/streamScanner";
import { streamEvent } from "../testing/testEngine";
import { finishReasonsOf } from "./finishReasons";

it.each<readonly [string, unknown, readonly string[]]>([
  [
    "each choice that ended",
    { choices: [{ finish_reason: "stop" }, { finish_reason: null }, { finish_reason: "length" }] },
    ["stop", "length"],
  ],
  ["no word of an engine's own", { choices: [{ finish_reason: "because the prompt said so" }] }, ["other"]],
  ["nothing where there are no choices", { data: [] }, []],
  ["nothing of what is no completion", "text", []],
  ["at most sixteen", { choices: Array(40).fill({ finish_reason: "stop" }) }, Array(16).fill("stop")],
])("finish reasons name %s", (_, completion, expected) => {
  expect(finishReasonsOf(completion)).toEqual(expected);
});

it("finish reasons of a stream are read after its first token, but not from a token that quotes one", () => {
  const scanner = new StreamScanner();
  scanner.feed(Buffer.from(streamEvent({ content: "a" }) + streamEvent({ content: '"finish_reason":"length"' })));
  expect(scanner.finishReasons).toEqual([]);
  scanner.feed(Buffer.from(`${streamEvent({}, "tool_calls")}data: [DONE]\n\n`));
  expect(scanner.finishReasons).toEqual(["tool_calls"]);
});
