import { expect, it } from "vitest";
import { capturedFields } from "./capturedFields";

it("keeps texts and calls of tools of a message, and takes out what else is hung on it or on a part", () => {
  const call = { id: "c", type: "function", function: { name: "find", arguments: "{}" } };
  const messages = [
    { role: "user", content: "hi", image_url: "data:image/png;base64,AAAA", audio: { data: "BBBB" } },
    { role: "user", name: "ann", content: [{ type: "text", text: "see", image_url: { url: "data:image/png;base64,CCCC" } }] },
    { role: "assistant", content: null, tool_calls: [call], reasoning_content: "hm" },
    { role: "tool", content: "found", tool_call_id: "c" },
  ];
  expect(capturedFields({ messages, user: "u-1", temperature: 0 })).toEqual({
    messages: [
      { role: "user", content: "hi" },
      { role: "user", name: "ann", content: [{ type: "text", text: "see" }] },
      messages[2],
      messages[3],
    ],
    temperature: 0,
  });
});

it.each([
  [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }],
  [{ role: "user", content: { image_url: "data:image/png;base64,AAAA" } }],
  ["hi"],
])("keeps nothing of a prompt with the message %j", (message) => {
  expect(capturedFields({ messages: [message] })).toBeNull();
});
