import { expect, it } from "vitest";
import { withoutUsage } from "./usageEvent";

const token = 'data: {"choices":[{"index":0,"delta":{"content":"ä \\"usage\\""}}],"usage":null}\n\n';
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n';
const passed = (text: string): string => withoutUsage(Buffer.from(text)).toString();

it("leaves out the event that carries only the usage, and sends the rest byte for byte", () => {
  expect(passed(`${token}${usage}\ndata: [DONE]\n\n`)).toBe(`${token}\ndata: [DONE]\n\n`);
  expect(passed(token)).toBe(token);
  expect(passed(usage)).toBe("");
});

it("keeps usage that comes with a choice, and lines that are no JSON", () => {
  const both = 'data: {"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":7}}\r\n\r\n';
  expect(passed(both)).toBe(both);
  expect(passed('data: "usage" {\n')).toBe('data: "usage" {\n');
});
