import { expect, it } from "vitest";
import { prepareCandidates, preparePredictions, prepareRounds, prepareSlots } from "./prepareRounds";
import { testPredictions, testRound } from "./testRounds";

const given = (workId: string, model: string) => ({ workId, programId: `p-${workId}`, agent: "voter-1", model });

it("draws slots on the scale of saturation, and says what is down, full, or takes nothing", () => {
  const slots = { model: "m-8b", replicas: 2, down: false, inFlight: 6, saturation: 8, free: 2 };
  const bars = prepareSlots([
    slots,
    { ...slots, free: 0, inFlight: 12 },
    { ...slots, replicas: 0, inFlight: 0, saturation: 0, free: 0 },
    { ...slots, replicas: 0, inFlight: 0, saturation: 0, free: 0, down: true },
  ]);
  expect(bars.map(({ word }) => word)).toEqual(["has room", "full", "takes nothing now", "down"]);
  expect(bars.map(({ inFlight, free }) => inFlight + free)).toEqual([1, 1, 0, 0]);
  expect(bars[0]?.text).toBe("6 in flight, 2 free, saturated from 8 on 2 replicas");
});

it("tells rounds by their age on the wall, and what was carried out by model", () => {
  const candidates = [{ utilisationGain: 0.5, flexibility: 0.4, given: [2, 0, 1], assignments: [given("a", "small-8b")] }];
  const barely = [{ utilisationGain: 0.0002, flexibility: 1, given: [1, 0, 0], assignments: [given("a", "small-8b")] }];
  const told = [testRound({ candidates }), testRound({ candidates: [] }), testRound({ candidates: barely })];
  const [row, idle, little] = prepareRounds({ rounds: told, asOfSeconds: 112 }, 1);
  expect(little?.gain.replace(/\s/g, " ")).toBe("< +0.1 %");
  expect(row?.age.replace(/\s/g, " ")).toBe("12 s ago");
  expect(row?.given).toEqual([
    { model: "small-8b", count: 2 },
    { model: "large-70b", count: 1 },
  ]);
  expect([row?.gain.replace(/\s/g, " "), idle?.gain]).toEqual(["+50.0 %", "–"]);
  expect(idle?.given).toEqual([]);
  expect(prepareRounds({ rounds: [testRound()], asOfSeconds: 700 }, 10)[0]?.age.replace(/\s/g, " ")).toBe("60 s ago");
  expect(prepareRounds({ rounds: null, asOfSeconds: 0 }, 1)).toEqual([]);
});

it("puts candidates side by side: who waits in one, and where it differs from the one that was carried out", () => {
  const { columns, rows } = prepareCandidates(
    testRound({
      candidates: [
        { utilisationGain: 0.5, flexibility: 0.25, given: [1, 0, 1], assignments: [given("a", "small-8b"), given("b", "large-70b")] },
        { utilisationGain: 0.4, flexibility: 0.75, given: [70, 0, 1], assignments: [given("a", "small-8b"), given("c", "large-70b")] },
      ],
    }),
  );
  expect(columns.map(({ name, requests }) => [name, requests])).toEqual([
    ["carried out", "2 requests"],
    ["candidate 2", "71 requests"],
  ]);
  expect(rows.map(({ programId }) => programId)).toEqual(["p-a", "p-b", "p-c"]);
  expect(rows.map(({ cells }) => cells.map(({ model }) => model))).toEqual([
    ["small-8b", "small-8b"],
    ["large-70b", null],
    [null, "large-70b"],
  ]);
  expect(rows.map(({ cells }) => cells[1]?.differs)).toEqual([false, true, true]);
});

it("says what of a long round is shown", () => {
  const shown = (change: Parameters<typeof testRound>[0]) => prepareCandidates(testRound(change)).shown;
  expect(shown({})).toBeNull();
  expect(shown({ kept: 16, requests: 100 })).toBe(
    "Shown are the best 1 of 16 candidates and the first 64 of 100 requests that a free engine might have served; counts are of all.",
  );
  expect(shown({ requests: 65 })).toContain("Shown are the first 64 of 65 requests");
});

it("says how predictions went, and what it means that there were none", () => {
  const { figures } = preparePredictions(testPredictions);
  expect(figures.map(({ value }) => value.replace(/\s/g, " "))).toEqual(["90", "8", "2", "3.2 ms", "31 %"]);
  expect(figures[0]?.detail.replace(/\s/g, " ")).toBe("90 % of programs");
  expect(preparePredictions({ ...testPredictions, whole: 0, partial: 0 }).says).toContain("only the largest");
  const none = preparePredictions({ whole: 0, partial: 0, none: 0, meanMs: null, meanBudgetMs: null, evaluatedShare: null });
  expect(none.figures[0]?.detail).toBe("no program yet");
});
