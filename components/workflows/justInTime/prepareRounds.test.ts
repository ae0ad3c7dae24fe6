import fc from "fast-check";
import { expect, it } from "vitest";
import { roundChoices } from "@/solver/plan/policySchema";
import { testRound } from "../testing/testRounds";
import {
  isByWorth,
  isPastRound,
  keepContested,
  listedRounds,
  MOST_KEPT,
  prepareCandidates,
  prepareRounds,
  prepareSlots,
} from "./prepareRounds";

const given = (workId: string, model: string) => ({ workId, programId: `p-${workId}`, agent: "voter-1", model });

it("draws slots on the scale of saturation, and says what is down, full, or takes nothing", () => {
  const slots = { model: "m-8b", replicas: 2, down: false, inFlight: 6, saturation: 8, free: 2 };
  const all = [
    slots,
    { ...slots, free: 0, inFlight: 12 },
    { ...slots, replicas: 0, inFlight: 0, saturation: 0, free: 0 },
    { ...slots, replicas: 0, inFlight: 0, saturation: 0, free: 0, down: true },
  ];
  const bars = prepareSlots(all, false);
  expect(bars.map(({ word }) => word)).toEqual(["has room", "full", "takes nothing now", "down"]);
  expect(bars.map(({ inFlight, free }) => inFlight + free)).toEqual([1, 1, 0, 0]);
  expect(bars[0]?.text).toBe("6 in flight, 2 free, saturated from 8 on 2 replicas");
  const past = prepareSlots(all, true);
  expect(past.map(({ word }) => word)).toEqual(["had room", "was full", "took nothing", "was down"]);
  expect([past[0]?.text, past[3]?.text]).toEqual(["6 were in flight, 2 free, saturated from 8 on 2 replicas", "no engine answered"]);
  expect([0, 4, 6, 120].map(isPastRound)).toEqual([false, false, true, true]);
});

it("tells rounds by the clock and their age on the wall, apart from each other, and what was carried out by model", () => {
  const candidates = [{ utilisationGain: 0.5, flexibility: 0.4, given: [2, 0, 1], assignments: [given("a", "small-8b")] }];
  const barely = [{ utilisationGain: 0.0002, flexibility: 1, given: [1, 0, 0], assignments: [given("a", "small-8b")] }];
  const told = [testRound({ candidates }), testRound({ candidates: [] }), testRound({ candidates: barely })];
  const [row, idle, little] = prepareRounds(told, { asOfSeconds: 112, atMs: 1_000_000_000_000, timeScale: 1 });
  expect(little?.gain.replace(/\s/g, " ")).toBe("< +0.1 %");
  expect(row?.age.replace(/\s/g, " ")).toBe("12 s ago");
  expect(row?.given).toEqual([
    { model: "small-8b", count: 2 },
    { model: "large-70b", count: 1 },
  ]);
  expect([row?.gain.replace(/\s/g, " "), idle?.gain]).toEqual(["+50.0 %", "–"]);
  expect(idle?.given).toEqual([]);
  const answer = { asOfSeconds: 700, atMs: 1_000_000_000_000, timeScale: 10 };
  expect(prepareRounds([testRound()], answer)[0]?.age.replace(/\s/g, " ")).toBe("60 s ago");
  const close = prepareRounds([testRound({ nowSeconds: 697 }), testRound({ nowSeconds: 696 }), testRound({ nowSeconds: 695.99 })], answer);
  expect(close.map(({ clock }) => clock.slice(-3))).toEqual(["9.7", "9.6", "9.5"]);
  expect(new Set(close.map(({ says }) => says)).size).toBe(3);
  expect(close[0]?.says).toBe(`round 1 of 3, at ${close[0]?.clock}`);
});

it("keeps the newest rounds of several candidates that the gateway tells no more, until its clock begins anew", () => {
  const [candidate] = testRound().candidates;
  if (candidate === undefined) throw new Error("a candidate");
  const contested = (nowSeconds: number) => testRound({ nowSeconds, candidates: [candidate, candidate] });
  const first = { rounds: [testRound({ nowSeconds: 12 }), contested(11), contested(10)], asOfSeconds: 13 };
  const kept = keepContested([], first);
  expect(kept.map(({ nowSeconds }) => nowSeconds)).toEqual([11, 10]);
  expect(keepContested(kept, first)).toBe(kept);
  expect(listedRounds(first.rounds, kept)).toEqual(first.rounds);
  const later = [testRound({ nowSeconds: 21 })];
  expect(listedRounds(later, kept).map(({ nowSeconds }) => nowSeconds)).toEqual([21, 11, 10]);
  const many = keepContested(kept, { rounds: [25, 24, 23].map(contested), asOfSeconds: 30 });
  expect(many.map(({ nowSeconds }) => nowSeconds)).toEqual([25, 24, 23, 11]);
  expect(many).toHaveLength(MOST_KEPT);
  // A page that gets the same answer again reaches a fixed state, even if the answer has more rounds than are kept.
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(40), fc.nat(30)), { maxLength: 16 }), (told) => {
      const all = [...new Map(told.map(([now, weighed]) => [`${now} ${weighed}`, { ...contested(now), weighed }])).values()];
      const answer = { rounds: all.toSorted((a, b) => b.nowSeconds - a.nowSeconds), asOfSeconds: 30 };
      const once = keepContested(kept, answer);
      expect(keepContested(once, answer)).toBe(once);
      const known = new Set([...kept, ...all].flatMap(({ nowSeconds, weighed }) => (nowSeconds > 30 ? [] : `${nowSeconds} ${weighed}`)));
      expect(once).toHaveLength(Math.min(MOST_KEPT, known.size));
    }),
  );
  expect(keepContested(many, { rounds: [], asOfSeconds: 2 })).toEqual([]);
  expect(listedRounds(null, [])).toEqual([]);
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

it("says why a request got its model where worth chose it", () => {
  const terms = { surenessSeconds: 0, latencySeconds: 1.25, priceSeconds: 0.4, planPriceSeconds: 0, restSeconds: 0 };
  const priced = { ...terms, planPriceSeconds: 0.2 };
  const assignments = [{ ...given("a", "small-8b"), terms }, given("b", "large-70b"), { ...given("c", "small-8b"), terms: priced }];
  const picture = prepareCandidates(testRound({ candidates: [{ utilisationGain: 0.5, flexibility: 1, given: [1, 0, 1], assignments }] }));
  expect(picture.rows.map(({ cells }) => cells[0]?.terms)).toEqual([
    "answers in 1.25 s, delays others by 0.40 s",
    null,
    "answers in 1.25 s, delays others by 0.40 s, price of its tokens 0.20 s",
  ]);
});

it("names a request of no declared workflow undeclared", () => {
  const candidates = [{ utilisationGain: 0.5, flexibility: 1, given: [0, 0, 1], assignments: [{ ...given("a", "large-70b"), agent: "" }] }];
  expect(prepareCandidates(testRound({ candidates })).rows[0]?.agent).toBe("undeclared");
});

it("says what of a long round is shown", () => {
  const shown = (change: Parameters<typeof testRound>[0]) => prepareCandidates(testRound(change)).shown;
  expect(shown({})).toBeNull();
  expect(shown({ kept: 16, requests: 100 })).toBe(
    "Shown are the best 1 of 16 candidates and the first 64 of 100 requests that a free engine might have served; counts are of all.",
  );
  expect(shown({ requests: 65 })).toContain("Shown are the first 64 of 65 requests");
});

it("knows rounds by worth, which compute no gain, by the policy of the plan", () => {
  const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
  const rounds = { kind: "just-in-time" as const, models: [], workflows: [], ...queueing };
  expect(isByWorth({ ...rounds, selection: roundChoices.worth })).toBe(true);
  expect(isByWorth({ ...rounds, selection: roundChoices.beam })).toBe(false);
  expect(isByWorth(null)).toBe(false);
});
