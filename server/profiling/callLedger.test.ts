import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallLedger, type CallShape, type LedgerCall } from "./callLedger";

/** Two models, each of which shares three lanes with its own judge; the last measure compares with the second model. */
const shapeOf = (prompts: number, limit: number): CallShape => ({
  prompts,
  order: Int32Array.from({ length: prompts }, (_, at) => prompts - 1 - at),
  models: [{ lane: 0 }, { lane: 1 }],
  measures: [
    { readings: 1, lane: 2, against: null },
    { readings: 2, lane: 2, against: 1 },
  ],
  lanes: [{ limit }, { limit }, { limit }],
});

const CALLS_A_PROMPT = 2 + 2 + 4;

describe("the ledger of a profile's calls", () => {
  it("gives each call once, readings after their answers, and never more at once than a lane may, through any failures and restarts", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(
          fc.record({ lane: fc.nat(2), pick: fc.nat(), how: fc.constantFrom("done", "done", "done", "failed", "again", "restart") }),
          {
            maxLength: 300,
          },
        ),
        (prompts, limit, steps) => {
          const shape = shapeOf(prompts, limit);
          let ledger = new CallLedger(shape);
          const over = new Map<number, "done" | "failed">();
          let underWay: LedgerCall[] = [];
          const stepOf = (lane: number, how: (typeof steps)[number]["how"], pick: number): void => {
            if (how === "restart") {
              ledger = new CallLedger(shape);
              underWay = [];
              for (const [id, state] of over) ledger.restore(ledger.callOf(id), state);
              return;
            }
            const call = ledger.take(lane);
            if (call !== null) {
              expect(over.has(call.id)).toBe(false);
              expect(underWay.map(({ id }) => id)).not.toContain(call.id);
              for (const model of needed(call)) expect(over.get(ledger.idOf({ ...call, model, measure: null, reading: 0 }))).toBe("done");
              underWay.push(call);
            }
            expect(ledger.underWay(lane)).toBeLessThanOrEqual(limit);
            const ended = underWay.splice(pick % Math.max(1, underWay.length), 1)[0];
            if (ended === undefined) return;
            if (how === "again") {
              ledger.leave(ended.id);
              ledger.giveBack(ended.id);
            } else {
              ledger.end(ended.id, how);
              over.set(ended.id, how);
            }
          };
          for (const { lane, how, pick } of steps) stepOf(lane, how, pick);
          for (let turn = 0; turn < 4 * prompts * CALLS_A_PROMPT && !ledger.isOver; turn += 1)
            for (const lane of [0, 1, 2]) stepOf(lane, "done", turn);
          expect(ledger.isOver).toBe(true);
          const counts = [...ledger.models, ...ledger.measures];
          expect(counts.reduce((sum, { planned }) => sum + planned, 0)).toBe(prompts * CALLS_A_PROMPT);
          for (const { planned, done, failed } of counts) expect(done + failed).toBe(planned);
          // What is not over by itself is what cannot be read, since an answer to it failed.
          const failedAnswers = [...over].some(([id, how]) => how === "failed" && ledger.callOf(id).measure === null);
          if (!failedAnswers) expect(over.size).toBe(prompts * CALLS_A_PROMPT);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("needs an answer until it was read, for itself and beside another", () => {
    const ledger = new CallLedger(shapeOf(1, 9));
    const [first, second] = [ledger.take(0), ledger.take(1)];
    for (const call of [first, second]) if (call) ledger.end(call.id, "done");
    const readings = Array.from({ length: 6 }, () => ledger.take(2)).flatMap((call) => call ?? []);
    expect(readings).toHaveLength(6);
    const needs: boolean[][] = [];
    for (const { id } of readings) {
      needs.push([0, 1].map((model) => !ledger.isRead(0, model)));
      ledger.end(id, "done");
    }
    expect(needs[0]).toEqual([true, true]);
    expect(needs.at(-1)?.some((needed) => needed)).toBe(true);
    expect([0, 1].map((model) => ledger.isRead(0, model))).toEqual([true, true]);
  });

  it("makes no readings of an answer that there is none of", () => {
    const ledger = new CallLedger(shapeOf(1, 9));
    const [first, second] = [ledger.take(0), ledger.take(1)];
    if (first) ledger.end(first.id, "done");
    if (second) ledger.end(second.id, "failed");
    // The first model's own rubric is read; nothing is compared with an answer that failed.
    expect(ledger.take(2)).toMatchObject({ model: 0, measure: 0 });
    expect(ledger.take(2)).toBeNull();
    expect(ledger.measures).toEqual([
      { planned: 2, done: 0, failed: 1 },
      { planned: 4, done: 0, failed: 4 },
    ]);
  });

  it("asks prompts in the order that it was given", () => {
    const ledger = new CallLedger({ ...shapeOf(3, 9), order: Int32Array.of(1, 2, 0) });
    expect([ledger.take(0), ledger.take(0), ledger.take(0), ledger.take(0)].map((call) => call?.position)).toEqual([1, 2, 0, undefined]);
  });
});

/** Models whose answers a call needs. */
function needed({ model, measure }: LedgerCall): readonly number[] {
  if (measure === null) return [];
  return measure === 1 ? [model, 1] : [model];
}
