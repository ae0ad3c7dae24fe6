import { describe, expect, it } from "vitest";
import { DecisionLog } from "./decisionLog";

const decision = {
  id: "d",
  planId: "p",
  policyHash: "h",
  finishedAtMs: 0,
  status: 200,
  reason: "",
  stages: [],
  ttftSeconds: null,
  endToEndSeconds: 1,
  overheadSeconds: 0,
};

function filled(capacity: number, count: number): DecisionLog {
  const log = new DecisionLog(capacity);
  for (let index = 0; index < count; index += 1) log.append(decision);
  return log;
}

const pageOf = (log: DecisionLog, after: number) => JSON.parse(log.pageJson(after));
const sequences = (log: DecisionLog, after: number) => pageOf(log, after).decisions.map(({ sequence }: { sequence: number }) => sequence);

describe("DecisionLog", () => {
  it("gives what came after the asked sequence, oldest first", () => {
    expect(sequences(filled(10, 4), 2)).toEqual([3, 4]);
    expect(pageOf(filled(10, 4), 2)).toMatchObject({ latest: 4, missed: 0 });
  });

  it("says how many were overwritten before they were asked for", () => {
    expect(pageOf(filled(3, 8), 2)).toMatchObject({ latest: 8, missed: 3 });
    expect(sequences(filled(3, 8), 2)).toEqual([6, 7, 8]);
    expect(pageOf(filled(3, 8), 6).missed).toBe(0);
  });

  it("gives at most 1000 at once, so that a reader goes on from the last", () => {
    const log = filled(3000, 2500);
    expect(sequences(log, 0)).toHaveLength(1000);
    expect(sequences(log, 1000)[0]).toBe(1001);
    expect(sequences(log, 2000)).toHaveLength(500);
  });

  it("gives every record whole, whether it is among the newest or in a batch, and whatever it contains", () => {
    const log = new DecisionLog(500);
    const texts = Array.from({ length: 300 }, (_, index) => `"id":"d-${index + 1}", 水 ${"\\".repeat(index % 3)}`);
    for (const [index, prompt] of texts.entries()) log.append({ ...decision, id: `d-${index}`, prompt });
    const { decisions } = pageOf(log, 0);
    expect(decisions).toEqual(texts.map((prompt, index) => ({ ...decision, sequence: index + 1, id: `d-${index}`, prompt })));
    for (const index of [0, 63, 64, 200, 299]) expect(JSON.parse(log.findJson(`d-${index}`) ?? "null")).toEqual(decisions[index]);
    expect(log.findJson("d-300")).toBeUndefined();
    for (const after of [0, 63, 64, 150, 299]) expect(sequences(log, after)[0]).toBe(after + 1);
  });

  it("is empty for a reader who is up to date, or ahead because the gateway was restarted", () => {
    expect(pageOf(filled(3, 2), 2)).toEqual({ decisions: [], latest: 2, missed: 0 });
    expect(pageOf(filled(3, 2), 900)).toEqual({ decisions: [], latest: 2, missed: 0 });
    expect(pageOf(filled(3, 0), 0)).toEqual({ decisions: [], latest: 0, missed: 0 });
  });
});
