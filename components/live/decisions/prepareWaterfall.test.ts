import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testDecision, testStage } from "../testing/testDecision";
import { prepareWaterfall } from "./prepareWaterfall";

const spans = (change: Parameters<typeof testDecision>[0]) =>
  prepareWaterfall(testDecision(change)).rows.map(({ parts }) => parts.map(({ kind, from, share }) => [kind, from, share]));

describe("prepareWaterfall", () => {
  it("draws queue, engine and judge of every stage to the scale of the whole request", () => {
    const small = testStage("small", { queueSeconds: 1, seconds: 2, judgeSeconds: 1, verdict: "escalated" });
    const large = testStage("large", { seconds: 4 });
    expect(spans({ stages: [small, large], endToEndSeconds: 10 })).toEqual([
      [
        ["queue", 0, 0.1],
        ["engine", 0.1, 0.2],
        ["judge", 0.3, 0.1],
      ],
      [["engine", 0.4, 0.4]],
    ]);
  });

  it("puts parts where the gateway says they began, so that its own time in between stays free", () => {
    const at = (queued: number, dispatched: number, answered: number) => ({ queued, dispatched, answered, judged: null });
    const first = testStage("small", { seconds: 1, verdict: "failed", reason: "the engine answered 500", at: at(100, 100, 101) });
    const second = testStage("small", { queueSeconds: 1, seconds: 2, at: at(105, 106, 108) });
    expect(spans({ stages: [first, second], endToEndSeconds: 10 })).toEqual([
      [["failed", 0, 0.1]],
      [
        ["queue", 0.5, 0.1],
        ["engine", 0.6, 0.2],
      ],
    ]);
  });

  it("has no row where no stage was reached, and no first token where there was none", () => {
    expect(prepareWaterfall(testDecision({ stages: [], ttftSeconds: null }))).toEqual({ totalSeconds: 1, rows: [], firstToken: null });
    expect(prepareWaterfall(testDecision({ stages: [testStage("m", { seconds: 0 })], endToEndSeconds: 0 })).rows[0]?.parts).toEqual([]);
  });

  it("keeps every part inside of the whole and after the one before", () => {
    const seconds = fc.double({ min: 0, max: 100, noNaN: true });
    const stage = fc.record({ queueSeconds: seconds, seconds, judgeSeconds: fc.option(seconds) }).map((times) => testStage("m", times));
    fc.assert(
      fc.property(fc.array(stage, { maxLength: 5 }), seconds, (stages, endToEndSeconds) => {
        const parts = prepareWaterfall(testDecision({ stages, endToEndSeconds })).rows.flatMap((row) => row.parts);
        let end = 0;
        for (const { from, share } of parts) {
          expect(from).toBeGreaterThanOrEqual(end - 1e-9);
          end = from + share;
          expect(end).toBeLessThanOrEqual(1 + 1e-9);
        }
      }),
    );
  });
});
