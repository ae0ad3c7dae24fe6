import { describe, expect, it } from "vitest";
import type { Asked } from "./askedQuestions";
import { byKill, countedAnswers, recordsTable, totalsOf } from "./rollOutRecords";

const one = (change: Partial<Asked>): Asked => ({ question: 0, lost: 0, refused: 0, answer: "4", said: "", seconds: 1, ...change });

describe("requests of a run", () => {
  const asked = [
    one({}),
    one({ answer: "5" }),
    one({ answer: "cut: 1", lost: 2 }),
    one({ question: 1, answer: "5" }),
    one({ answer: null, refused: 3, said: "failed 503 busy" }),
  ];
  const counts = countedAnswers(asked, ["4", "9"], [["4", "5"], ["9"]]);

  it("are right, wrong as a model answers when asked alone, garbled, or failed", () => {
    expect(counts).toMatchObject({ sent: 5, right: 1, modelWrong: 1, garbled: 2, failed: 1, lostAttempts: 2, refusedAttempts: 3 });
    expect(counts.right + counts.modelWrong + counts.garbled + counts.failed).toBe(counts.sent);
    expect(counts.said).toEqual(["failed 503 busy"]);
  });

  it("are a line of the table with what was killed and when, and what an operator did", () => {
    const kill = { victim: "engine", moment: "at the switch" } as const;
    const ends = { forwardSeconds: 120, backSeconds: 99.6, acts: ["resumed"], halts: [], killed: "small-0" };
    const table = recordsTable([
      { engine: "vllm", at: "2026-01-01T00:00:00.000Z", kill, error: null, ...ends, ...counts },
      { engine: "vllm", at: "2026-01-01T00:00:00.000Z", kill: null, error: "not ended after 9 s", ...counts },
    ]);
    expect(table).toContain(
      "| engine `small-0` | at the switch | 5 | 1 | 2 | 3 | 1 | 1 | 2 | 1.00 s | 1.00 s | 1.00 s | 120, 100 s | resumed |",
    );
    expect(table).toContain("| nothing | - | 5 |");
    expect(table).toContain("did not end: not ended after 9 s |");
  });

  it("count whether their run ended or not, and an attempt that did not end keeps its line beside the one that did", () => {
    const at = "2026-01-01T00:00:00.000Z";
    const kill = { victim: "studio", moment: "at the switch" } as const;
    const records = [
      { engine: "vllm", at, kill, error: "not ended after 9 s", ...counts, failed: 3 },
      { engine: "vllm", at, kill: null, error: null, ...counts, failed: 0 },
      { engine: "vllm", at, kill, error: null, ...counts, failed: 1 },
    ] as const;
    const ordered = byKill(records, [null, kill]);
    expect(ordered.map(({ failed }) => failed)).toEqual([0, 3, 1]);
    expect(recordsTable(ordered)).toContain("did not end: not ended after 9 s");
    const totals = totalsOf(records, 2);
    expect(totals.figure).toBe(4);
    expect(totals.detail).toContain("2 of 2 runs there and back; 1 attempts did not end, with 3 of the failed requests; 15 requests");
  });
});
