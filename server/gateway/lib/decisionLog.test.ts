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

const sequences = (log: DecisionLog, after: number) => log.page(after).decisions.map(({ sequence }) => sequence);

describe("DecisionLog", () => {
  it("gives what came after the asked sequence, oldest first", () => {
    expect(sequences(filled(10, 4), 2)).toEqual([3, 4]);
    expect(filled(10, 4).page(2)).toMatchObject({ latest: 4, missed: 0 });
  });

  it("says how many were overwritten before they were asked for", () => {
    expect(filled(3, 8).page(2)).toMatchObject({ latest: 8, missed: 3 });
    expect(sequences(filled(3, 8), 2)).toEqual([6, 7, 8]);
    expect(filled(3, 8).page(6).missed).toBe(0);
  });

  it("gives at most 1000 at once, so that a reader goes on from the last", () => {
    const log = filled(3000, 2500);
    expect(sequences(log, 0)).toHaveLength(1000);
    expect(sequences(log, 1000)[0]).toBe(1001);
    expect(sequences(log, 2000)).toHaveLength(500);
  });

  it("is empty for a reader who is up to date, or ahead because the gateway was restarted", () => {
    expect(filled(3, 2).page(2)).toEqual({ decisions: [], latest: 2, missed: 0 });
    expect(filled(3, 2).page(900)).toEqual({ decisions: [], latest: 2, missed: 0 });
    expect(filled(3, 0).page(0)).toEqual({ decisions: [], latest: 0, missed: 0 });
  });
});
