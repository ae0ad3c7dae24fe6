import { expect, it } from "vitest";
import type { Reading, WaitingWork } from "../core/policy";
import type { Slots } from "../core/policyParts";
import { timeSlotsPlace } from "../places/timeSlotsPlace";
import { HeldWork, MOST_PASSES } from "./heldWork";
import { plannedMemory } from "./plannedMemory";
import { ReleaseQueue } from "./releaseQueue";

const fresh = (value: number): Reading => ({ state: "fresh", value, ageSeconds: 0 });

const workOf = (id: string, inputTokens: number): WaitingWork => ({
  ...{ id, programId: id, stage: 0, inputTokens, programArrivalSeconds: 0, queuedSinceSeconds: 0, state: { kind: "queued" } },
  forecast: { agent: "app/a", distanceSeconds: 1, remainingCalls: 1, requestSeconds: 60, tokensPerSecond: 0 },
});

interface Sent {
  /** Prompt of the one request that each replica has. */
  readonly has: readonly number[];
  readonly seats: readonly number[];
  readonly preempted?: boolean;
}

/** The forecast of a place with two replicas of 1,000 tokens for waiting prompts. */
function nextOf(prompts: readonly number[], { has, seats, preempted = false }: Sent, held = new HeldWork()) {
  const place = timeSlotsPlace();
  const preemptions = has.map(() => fresh(0));
  const slots: Slots = {
    ...{ model: "m", replicaIds: ["r0", "r1"], inFlight: new Int32Array(2), capacity: new Int32Array(2).fill(1) },
    ...{ kvUse: has.map(() => fresh(0.5)), kvTokens: [1000, 1000], preemptions },
  };
  for (const [at, prompt] of has.entries()) {
    const chosen = place.choose(slots, workOf(`there${at}`, prompt), 0);
    slots.inFlight[chosen] = 1;
  }
  if (preempted) for (const [at] of has.entries()) preemptions[at] = fresh(1);
  slots.capacity.set(seats);
  const plan = place.memoryPlan?.();
  if (plan === undefined) throw new Error("time slots have a plan");
  const works = prompts.map((prompt, at) => workOf(`w${at}`, prompt));
  const forecast = plannedMemory(plan, [{ slots, queue: new ReleaseQueue(works, {}, undefined), held: held.copy() }], 1);
  expect(forecast.replicas.map((replica) => [replica.inFlight, replica.seats])).toEqual(seats.map((most) => [1, most]));
  return forecast.next.map(({ replicaId, held, laterReplicaId, peakTokens }) => [replicaId ?? held, laterReplicaId, peakTokens]);
}

it("says which of what waits goes now, and of what lacks only a seat where it goes when one is free", () => {
  expect(nextOf([100, 100, 100, 100], { has: [300, 500], seats: [2, 2] })).toEqual([
    ["r0", null, 400],
    ["r1", null, 600],
    ["seats", "r0", 500],
    ["seats", "r0", 600],
  ]);
  expect(nextOf([100, 600], { has: [800, 500], seats: [2, 1] })).toEqual([
    ["r0", null, 900],
    ["memory", null, null],
  ]);
  expect(nextOf([300, 100], { has: [800, 500], seats: [2, 1] })).toEqual([
    ["seats", "r1", 800],
    ["r0", null, 900],
  ]);
});

it("tells want of memory from pressure and from replicas that take no work, and what goes before what is held back", () => {
  const has = [300, 500];
  expect(nextOf([900, 10], { has, seats: [8, 8] })).toEqual([
    ["memory", null, null],
    ["r0", null, 310],
  ]);
  expect(nextOf([10, 10], { has, seats: [8, 1], preempted: true }).map(([why]) => why)).toEqual(["pressure", "pressure"]);
  expect(nextOf([10], { has, seats: [0, 0] })).toEqual([["closed", null, null]]);
  expect(nextOf([900], { has, seats: [0, 8] })).toEqual([["memory", null, null]]);
});

it("says what waits behind work that was passed over too often, for which the replica is kept", () => {
  const held = new HeldWork();
  for (let pass = 0; pass < MOST_PASSES; pass += 1) held.pass("w0");
  expect(nextOf([900, 10], { has: [300, 990], seats: [8, 8] }, held)).toEqual([
    ["memory", null, null],
    ["r1", null, 1000],
  ]);
  expect(nextOf([900, 20], { has: [300, 990], seats: [8, 8] }, held)).toEqual([
    ["memory", null, null],
    ["behind", "r0", 320],
  ]);
});
