import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { testEngine, testFrame } from "../testing/testFrame";
import { AttentionStrip } from "./AttentionStrip";
import { prepareAttention } from "./prepareAttention";

const NOW = 1_000_000;
const drawn = (atMs: number, engines: number) => {
  const failing = { kind: "timeout", sinceMs: NOW - 60_000, nextTryAtMs: NOW + 20_000 } as const;
  const frame = testFrame({
    atMs,
    engines: Array.from({ length: engines }, (_, index) =>
      testEngine(`e${index}`, { state: "stale", reason: `no answer of e${index}`, failing }),
    ),
  });
  return renderToStaticMarkup(<AttentionStrip problems={prepareAttention([frame])} proposal={null} />);
};
const readOut = (html: string) => /<p role="status"[^>]*>(.*?)<\/p>/.exec(html)?.[1];

describe("AttentionStrip", () => {
  it("draws no panel when all is well", () => {
    expect(drawn(NOW, 0)).not.toContain("Needs attention");
  });

  it("says in words what is wrong, how long and when it is tried again, and lists each engine of a line that many share", () => {
    const html = drawn(NOW, 12);
    for (const text of ["no answer in time", "12 engines", "for 60\u00a0s", "next try in 20\u00a0s", "show all 12", "no answer of e7"]) {
      expect(html).toContain(text);
    }
  });

  it("reads out the same while only ages and the number of engines change", () => {
    expect(readOut(drawn(NOW, 2))).toBe("Needs attention: engine no answer in time");
    expect(readOut(drawn(NOW + 7_000, 12))).toBe(readOut(drawn(NOW, 2)));
  });
});
