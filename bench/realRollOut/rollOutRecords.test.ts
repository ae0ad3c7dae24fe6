import { describe, expect, it } from "vitest";
import type { Asked } from "./askedQuestions";
import type { Kill } from "./moments";
import {
  byKill,
  countedAnswers,
  measuredLoadSeconds,
  openKills,
  type RollOutRecord,
  recordsTable,
  totalsOf,
  withMissed,
} from "./rollOutRecords";

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
    const ends = { forwardSeconds: 120, backSeconds: 99.6, loadSeconds: null, acts: ["resumed"], halts: [], killed: "small-0" };
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

describe("a kill that missed its moment", () => {
  const counts = countedAnswers([one({})], ["4"], [["4"]]);
  const at = "2026-01-01T00:00:00.000Z";
  const loading: Kill = { victim: "engine", moment: "while the new engine loads" };
  const atSwitch: Kill = { victim: "gateway", moment: "at the switch" };
  const run = (change: Partial<RollOutRecord>): RollOutRecord => ({ engine: "weir", at, kill: null, error: null, ...counts, ...change });
  const done = { application: "done", step: "switch-policy", stepState: "done" } as const;
  const switching = { application: "running", step: "switch-policy", stepState: "running" } as const;
  const missed = run({ kill: atSwitch, killed: null, missed: true, point: done });
  const hit = run({ kill: atSwitch, killed: "gateway", missed: false, point: switching });

  it("is listed as missed, with the step that the roll-out had reached, and not under the name of its moment", () => {
    const table = recordsTable([missed]);
    expect(table).toContain("| nothing | moment missed, last step switch-policy done | 1 |");
    expect(table).not.toContain("at the switch");
    expect(recordsTable([hit])).toContain("| gateway | at the switch | 1 |");
  });

  it("is tried again by the next call, as is one whose run did not end, and its requests count", () => {
    const kills = [null, atSwitch, loading];
    expect(openKills([run({}), missed, run({ kill: loading, error: "not ended after 9 s" })], kills, "b")).toEqual([atSwitch, loading]);
    expect(openKills([run({}), missed, hit], kills, "b")).toEqual([loading]);
    expect(totalsOf([missed], 3).figure).toBeNaN();
    expect(totalsOf([run({}), { ...missed, failed: 2 }, hit], 3)).toMatchObject({
      figure: 2,
      detail: expect.stringMatching(/^2 of 3 runs there and back; .*; 1 kills missed their moment; 3 requests/),
    });
  });

  it("is made again by a later commit where its newest run failed requests, which then are counted apart", () => {
    const failing = { ...hit, failed: 3, commit: "a" };
    const again = { ...hit, at: "2026-01-02T00:00:00.000Z", commit: "b" };
    expect(openKills([run({}), failing], [null, atSwitch], "a")).toEqual([]);
    expect(openKills([run({}), failing], [null, atSwitch], "b")).toEqual([atSwitch]);
    expect(openKills([run({}), failing, again], [null, atSwitch], "b")).toEqual([]);
    expect(totalsOf([run({}), failing], 2).figure).toBe(3);
    expect(totalsOf([run({}), failing, again], 2)).toMatchObject({
      figure: 0,
      detail: expect.stringContaining("1 runs of earlier versions, made again since, failed 3 requests"),
    });
  });

  it("is recognised in records without a point, where a whole roll-out took less time than the wait before the kill", () => {
    const killed = { kill: loading, killed: "small-0", forwardSeconds: 8.2 };
    const marked = (unkilledSeconds: number, change: Partial<RollOutRecord>) =>
      withMissed([run({ forwardSeconds: unkilledSeconds }), run({ ...killed, ...change })]).map((record) => record.missed ?? false);
    expect(marked(3.3, {})).toEqual([false, true]);
    // vLLM loads for longer than that.
    expect(marked(120, {})).toEqual([false, false]);
    expect(marked(3.3, { kill: atSwitch })).toEqual([false, false]);
    expect(marked(3.3, { missed: false, point: { ...switching, step: "start", newEngine: "loading" } })).toEqual([false, false]);
    const [, record] = withMissed([run({ forwardSeconds: 3.3 }), run(killed)]);
    expect(recordsTable(record === undefined ? [] : [record])).toContain("| engine `small-0` | moment missed | 1 |");
  });

  it("is awaited by the load time of the newest run without a kill", () => {
    expect(measuredLoadSeconds([run({})])).toBeNull();
    expect(measuredLoadSeconds([run({ loadSeconds: 80 }), run({ loadSeconds: 60 }), run({ kill: loading, loadSeconds: null })])).toBe(60);
  });
});
