import { expect, test } from "vitest";
import type { WaitingWork } from "@/solver/policies/policy";
import { WaitingList } from "./waitingList";

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

function listOf(count: number, firstComeFirstServed = true): WaitingList {
  const list = new WaitingList({ firstComeFirstServed, modelOfStage: () => "small" });
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

test("shows everything to a policy that may serve any of it", () => {
  expect(idsOf(listOf(10, false).shown([replica(4)]))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
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

test("refuses a policy that passes over queued work although it promised not to", () => {
  expect(() => listOf(10).remove(sent(1))).toThrow("not in the order it came");
  expect(() => listOf(10).remove(sent(0, 2))).toThrow("not in the order it came");
  const free = listOf(3, false);
  free.remove(sent(1));
  expect(idsOf(free.shown([]))).toEqual([0, 2]);
});
