import { expect, it, vi } from "vitest";
import * as rawJson from "@/server/lib/rawJson";
import { messagesRequest } from "./messagesRequest";

// Watched, not replaced.
vi.mock("@/server/lib/rawJson", { spy: true });

it.each([
  ["in one message", 1, 200],
  ["in a message each", 200, 1],
])("reads the body's text once for 200 inputs with long numbers %s", (_, messages, blocks) => {
  vi.clearAllMocks();
  const block = '{"type":"tool_use","id":"a","name":"f","input":{"id":9007199254740993}}';
  const message = `{"role":"assistant","content":[${Array(blocks).fill(block).join(",")}]}`;
  const text = `{"model":"m","max_tokens":1,"messages":[${Array(messages).fill(message).join(",")}]}`;
  const raw = vi.fn(() => text);
  const { body } = messagesRequest(JSON.parse(text), raw);
  expect(JSON.stringify(body.messages).match(/9007199254740993/g)).toHaveLength(200);
  expect(raw).toHaveBeenCalledTimes(1);
  const readBy = [...vi.mocked(rawJson.rawMembers).mock.calls, ...vi.mocked(rawJson.rawElements).mock.calls];
  // The body, its messages, each message, its content, each block.
  expect(readBy.reduce((sum, [json]) => sum + json.length, 0)).toBeLessThan(5 * text.length);
});
