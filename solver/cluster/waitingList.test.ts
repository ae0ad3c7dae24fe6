import fc from "fast-check";
import { expect, test } from "vitest";
import { MOST_HELD, type Policy, type WaitingWork } from "@/solver/policies/core/policy";
import { forecastOf } from "@/solver/policies/testing/worldOfContract";
import { MOST_SHOWN, WaitingList } from "./waitingList";

const work = (id: number, state: WaitingWork["state"] = { kind: "queued" }): WaitingWork => ({
  id: String(id),
  programId: String(id),
  stage: 0,
  programArrivalSeconds: id,
  queuedSinceSeconds: id,
  inputTokens: 1,
  state,
});
const replica = (inFlight: number, accepting = true) =>
  ({ id: "r", model: "small", inFlight, maxInFlight: 4, accepting, kvUse: { state: "absent" } }) as const;
const sent = (...ids: number[]) => ids.map((id) => ({ kind: "dispatch" as const, workId: String(id), replicaId: "r" }));
const idsOf = (shown: readonly WaitingWork[]) => shown.map(({ id }) => Number(id));

function listOf(count: number, preference: Policy["preference"] = null, thenBy?: Policy["thenBy"]): WaitingList {
  const list = new WaitingList({ preference, ...(thenBy && { thenBy }), modelOfStage: () => "small" });
  for (let id = 0; id < count; id += 1) list.add(work(id));
  return list;
}

test("shows the head of a queue as far as there is room, and all answers", () => {
  const list = listOf(10);
  list.add(work(77, { kind: "answered", judgedScore: 3 }));
  expect(idsOf(list.shown([replica(1)]))).toEqual([77, 0, 1, 2]);
  expect(idsOf(list.shown([replica(4)]))).toEqual([77]);
  expect(idsOf(list.shown([replica(0, false)]))).toEqual([77]);
});

test("shows the oldest and the most preferred to a policy that may serve either, in the order they came", () => {
  const latestFirst = listOf(10, ({ id }) => -Number(id));
  expect(idsOf(latestFirst.shown([replica(1)]))).toEqual([0, 1, 2, 7, 8, 9]);
  expect(idsOf(latestFirst.shown([replica(4)]))).toEqual([]);
  expect(idsOf(listOf(2, ({ id }) => -Number(id)).shown([replica(0)]))).toEqual([0, 1]);
});

test("shows the most preferred whatever came, left and rose since, as sorting all that waits does", () => {
  const turn = fc.record({
    arrivals: fc.nat(6),
    room: fc.nat(4),
    rises: fc.array(fc.nat(60), { maxLength: 4 }),
    tieRises: fc.array(fc.nat(60), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 40 }), fc.array(fc.nat(9), { minLength: 1, maxLength: 20 }), (turns, drawn) => {
      const [keys, ties] = [new Map<string, number>(), new Map<string, number>()];
      const of = (values: Map<string, number>) => (id: number | string) => values.get(String(id)) ?? 0;
      const [key, tie] = [of(keys), of(ties)];
      const list = listOf(
        0,
        ({ id }) => key(id),
        ({ id }) => tie(id),
      );
      let waiting: number[] = [];
      let came = 0;
      for (const { arrivals, room, rises, tieRises } of turns) {
        for (let left = arrivals; left > 0; left -= 1) {
          keys.set(String(came), drawn[came % drawn.length] ?? 0);
          ties.set(String(came), drawn[(3 * came + 1) % drawn.length] ?? 0);
          list.add(work(came));
          waiting.push(came++);
        }
        for (const id of rises) keys.set(String(id), key(id) + 3);
        for (const id of tieRises) ties.set(String(id), tie(id) + 2);
        const byKey = [...waiting].sort((a, b) => key(a) - key(b) || tie(a) - tie(b) || a - b);
        const expected = new Set([...waiting.slice(0, room), ...byKey.slice(0, room)]);
        expect(idsOf(list.shown([replica(4 - room)]))).toEqual([...expected].sort((a, b) => a - b));
        const leaving = byKey.slice(0, room);
        list.remove(sent(...leaving));
        waiting = waiting.filter((id) => !leaving.includes(id));
        expect(list.size).toBe(waiting.length);
      }
    }),
  );
});

test("shows work by the forecasts that it has now, whatever it came with", () => {
  const list = listOf(0, ({ forecast }) => forecast?.distanceSeconds ?? 0);
  for (let id = 0; id < 300; id += 1) list.add({ ...work(id), forecast: forecastOf(id) });
  expect(idsOf(list.shown([replica(3)]))).toEqual([0]);
  list.reforecast((id) => forecastOf(999 - Number(id)));
  expect(idsOf(list.shown([replica(3)]))).toEqual([0, 299]);
});

test("keeps the order of a queue that thousands pass through, and loses none", () => {
  const list = listOf(5000);
  const left: number[] = [];
  while (list.size > 0) {
    const shown = idsOf(list.shown([replica(1)]));
    list.remove(sent(...shown));
    left.push(...shown);
  }
  expect(left).toEqual(Array.from({ length: 5000 }, (_, id) => id));
});

test("shows of a long queue all that there is room for, or a bounded part of it to a policy that may hold work back", () => {
  const free = { preference: ({ id }: WaitingWork) => -Number(id), modelOfStage: () => "small" };
  const shownTo = (policy: ConstructorParameters<typeof WaitingList>[0], room: number): readonly number[] => {
    const list = new WaitingList(policy);
    for (let id = 0; id < 5000; id += 1) list.add(work(id));
    return idsOf(list.shown([{ ...replica(0), maxInFlight: room }]));
  };
  const oldestAndNewest = (each: number): readonly number[] => {
    const first = Array.from({ length: each }, (_, at) => at);
    return [...first, ...first.map((at) => 5000 - each + at)];
  };
  expect(shownTo(free, 1000)).toEqual(oldestAndNewest(1000));
  expect(shownTo({ ...free, askAgainSeconds: () => null }, 1000)).toEqual(oldestAndNewest(MOST_SHOWN + MOST_HELD));
  expect(shownTo({ ...free, askAgainSeconds: () => null }, 100)).toEqual(oldestAndNewest(100 + MOST_HELD));
  expect(shownTo({ ...free, askAgainSeconds: () => null, due: () => ["2500", "none"] }, 1)).toContain(2500);
});

test("refuses a policy that passes over queued work although it promised not to", () => {
  expect(() => listOf(10).remove(sent(1))).toThrow("not in the order it came");
  expect(() => listOf(10).remove(sent(0, 2))).toThrow("not in the order it came");
  const free = listOf(3, () => 0);
  free.remove(sent(1));
  expect(idsOf(free.shown([replica(0)]))).toEqual([0, 2]);
  expect(() => free.remove(sent(1))).toThrow("work that does not wait");
});
