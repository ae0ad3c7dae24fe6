import { describe, expect, it } from "vitest";
import { streamEvent } from "../testing/testEngine";
import { StreamScanner } from "./streamScanner";

describe("StreamScanner", () => {
  it("finds the first token and the usage however the bytes are cut", () => {
    const stream = Buffer.from(
      `${streamEvent({ role: "assistant", content: "" })}${streamEvent({ content: "é" })}${streamEvent({}, "stop")}data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\ndata: [DONE]\n\n`,
    );
    for (const size of [1, 2, 7, 64, stream.length]) {
      const scanner = new StreamScanner();
      for (let from = 0; from < stream.length; from += size) scanner.feed(stream.subarray(from, from + size));
      expect(scanner.sawToken).toBe(true);
      expect(scanner.usage).toEqual({ inputTokens: 3, outputTokens: 4 });
    }
  });

  it("does not take a role, an empty text, a comment or garbage for a token", () => {
    const scanner = new StreamScanner();
    scanner.feed(Buffer.from(`: ping\n\n${streamEvent({ role: "assistant", content: "" })}data: {broken\n\n`));
    expect(scanner.sawToken).toBe(false);
  });

  it.each([[{ tool_calls: [{ index: 0 }] }], [{ reasoning_content: "hm" }]])("takes %o for a token", (delta) => {
    const scanner = new StreamScanner();
    scanner.feed(Buffer.from(streamEvent(delta)));
    expect(scanner.sawToken).toBe(true);
  });

  it("reports an error event that comes before the first token", () => {
    const scanner = new StreamScanner();
    scanner.feed(Buffer.from('data: {"error":{"message":"engine is dead"}}\n\n'));
    expect(scanner.error).toBe("engine is dead");
  });

  it("reports an error event that comes after the first token, but not a token that quotes one", () => {
    const scanner = new StreamScanner();
    scanner.feed(Buffer.from(streamEvent({ content: "It said " }) + streamEvent({ content: '{"error":{"message":"no"}}' })));
    expect(scanner.error).toBeNull();
    scanner.feed(Buffer.from('data: {"error": {"message": "engine is dead"}}\n\ndata: [DONE]\n\n'));
    expect(scanner.error).toBe("engine is dead");
  });
});
