import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import { adjacentBar } from "./adjacentBar";
import { type GanttInput, type GanttSession, linesOfSchedule, prepareGantt } from "./prepareGantt";

const identities = identifyModels(["gemma-2-9b", "qwen2.5-7b", "llama-3.1-70b"]);
const session = (model: string, from: number, until: number, more: Partial<GanttSession> = {}): GanttSession => ({
  ...{ model, prompts: 1632, fromSeconds: from, readySeconds: Math.min(until, from + 40), untilSeconds: until, share: null },
  ...more,
});
const input = (key: string, workers: readonly (readonly GanttSession[])[], idle: number | null = 0.25): GanttInput => ({
  ...{ key, title: key, word: null, idle },
  lines: workers.map((sessions, at) => ({ name: `worker ${at + 1}`, sessions })),
});

describe("prepareGantt", () => {
  it("draws schedules on one time axis, each with its own end", () => {
    const picture = prepareGantt(
      [input("after", [[session("gemma-2-9b", 0, 500)]]), input("before", [[session("gemma-2-9b", 0, 1000)]])],
      identities,
    );
    expect(picture?.drawings.map(({ end }) => end)).toEqual([
      { at: 0.5, text: "done after 500\u00a0s" },
      { at: 1, text: "done after 1,000\u00a0s" },
    ]);
    expect(picture?.drawings[0]?.rows[0]?.bars[0]).toMatchObject({ from: 0, width: 0.5, loading: 0.08, label: "D 1,632" });
    expect(picture?.drawings[0]?.rows[0]?.bars[0]?.text).toBe(
      "worker 1, gemma-2-9b, 1,632 questions: loads from 0\u00a0s to 40.0\u00a0s, answers until 500\u00a0s",
    );
    expect(picture?.ticks.at(-1)?.text).toBe("1,000\u00a0s");
    expect(picture?.drawings[0]?.says).toBe("after: 1 worker, 1 session, the last done after 500\u00a0s, 25\u00a0% idle.");
  });

  it("shades what no session covers until the schedule's own end, gaps between sessions too", () => {
    const picture = prepareGantt(
      [input("a", [[session("gemma-2-9b", 0, 100), session("qwen2.5-7b", 300, 400)], [session("llama-3.1-70b", 0, 1000)], []])],
      identities,
    );
    expect(picture?.drawings[0]?.rows.map(({ idle }) => idle)).toEqual([
      [
        { from: 0.1, width: expect.closeTo(0.2) },
        { from: 0.4, width: 0.6 },
      ],
      [],
      [{ from: 0, width: 1 }],
    ]);
  });

  it("draws workers with nothing to do as one row where there are many, and counts them all the same", () => {
    const workers = Array.from({ length: 64 }, (_, at) => (at < 2 || at === 40 ? [session("gemma-2-9b", 0, 100)] : []));
    const drawing = prepareGantt([input("a", workers)], identities)?.drawings[0];
    expect(drawing?.rows.map(({ key }) => key)).toEqual(["worker 1", "worker 2", "worker 3–40", "worker 41", "worker 42–64"]);
    expect(drawing?.rows[2]?.idle).toEqual([{ from: 0, width: 1 }]);
    expect(drawing?.says).toContain("64 workers, 3 sessions");
    const few = prepareGantt([input("a", workers.slice(0, 20))], identities)?.drawings[0];
    expect(few?.rows).toHaveLength(20);
  });

  it("covers a worker's time until the end exactly once, whatever the sessions are", () => {
    const lengths = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 50 }), length: fc.integer({ min: 1, max: 500 }) }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(lengths, { minLength: 1, maxLength: 70 }), (workers) => {
        const lines = workers.map((each) => {
          let at = 0;
          return each.map(({ gap, length }) => {
            const from = at + gap;
            at = from + length;
            return session("gemma-2-9b", from, at);
          });
        });
        const picture = prepareGantt([input("a", lines)], identities);
        if (picture === null) {
          expect(lines.flat()).toEqual([]);
          return;
        }
        const end = picture.drawings[0]!.end.at;
        for (const { bars, idle } of picture.drawings[0]!.rows) {
          const covered = [...bars, ...idle].reduce((sum, { width }) => sum + width, 0);
          expect(covered).toBeCloseTo(end, 4);
        }
        expect(picture.table).toHaveLength(lines.flat().length);
      }),
      { numRuns: 60 },
    );
  });

  it("makes rows of many workers thin, and thins names and labels out with them", () => {
    const many = (workers: number) =>
      prepareGantt(
        [
          input(
            "a",
            Array.from({ length: workers }, () => [session("gemma-2-9b", 0, 900)]),
          ),
        ],
        identities,
      );
    const [four, sixtyFour, most] = [many(4), many(64), many(256)];
    expect([four?.rowPx, four?.fontPx, sixtyFour?.rowPx, sixtyFour?.fontPx, most?.fontPx]).toEqual([26, 11, 10, 8, null]);
    expect(four?.drawings[0]?.rows.every(({ label }) => label !== "")).toBe(true);
    const named = sixtyFour?.drawings[0]?.rows.filter(({ label }) => label !== "");
    expect(named).toHaveLength(32);
    expect(most?.drawings[0]?.rows.every(({ bars }) => bars[0]?.label === "")).toBe(true);
    expect(sixtyFour?.drawings[0]?.rows[0]?.bars[0]?.label).toBe("D 1,632");
  });

  it("says of a session under way how much of it is answered, and that its end is expected", () => {
    const picture = prepareGantt([input("now", [[session("gemma-2-9b", 0, 200, { share: 0.25 })]], null)], identities);
    expect(picture?.drawings[0]?.rows[0]?.bars[0]).toMatchObject({
      share: 0.25,
      text: expect.stringMatching(/25.% answered, expected until 200.s/),
    });
    expect(picture?.drawings[0]?.idleText).toBe("");
    expect(picture?.drawings[0]?.end.text).toBe("expected to be done after 200\u00a0s");
  });

  it("shades nothing where nothing is said of idle time", () => {
    const picture = prepareGantt([input("now", [[session("gemma-2-9b", 0, 200)], []], null)], identities);
    expect([picture?.isShaded, picture?.drawings[0]?.rows[1]?.idle]).toEqual([false, []]);
  });

  it("draws nothing where nothing takes time", () => {
    expect(prepareGantt([input("a", [[], []])], identities)).toBeNull();
    expect(prepareGantt([], identities)).toBeNull();
  });

  it("counts hours in hours", () => {
    const picture = prepareGantt([input("a", [[session("gemma-2-9b", 0, 40_000)]])], identities);
    expect(picture?.ticks.map(({ text }) => text)).toContain("10\u00a0h");
  });
});

it("leads by arrow keys along a worker and to the nearest bar of the next that has any", () => {
  const lines = linesOfSchedule({
    workers: [
      [session("gemma-2-9b", 0, 100), session("qwen2.5-7b", 100, 900)],
      [],
      [session("gemma-2-9b", 0, 450), session("qwen2.5-7b", 450, 900)],
    ],
  });
  const rows = prepareGantt([{ key: "a", title: "a", word: null, lines, idle: 0 }], identities)!.drawings[0]!.rows;
  expect(adjacentBar(rows, "0 0", "ArrowRight")).toBe("0 1");
  expect(adjacentBar(rows, "0 1", "ArrowRight")).toBe("0 1");
  expect(adjacentBar(rows, "0 1", "ArrowDown")).toBe("2 1");
  expect(adjacentBar(rows, "2 0", "ArrowUp")).toBe("0 1");
  expect(adjacentBar(rows, "0 0", "ArrowUp")).toBe("0 0");
  expect(adjacentBar(rows, "2 1", "Home")).toBe("2 0");
});
