import { expect, it } from "vitest";
import type { GatewayRouting, StepAction } from "@/server/store/documents/storedStep";
import { engine } from "../testing/testRollOuts";
import { effectOf, type Found } from "./stepEffect";

const [a, b] = [engine("a", [0]), engine("b", [1])];
const standing = (...engines: (typeof a)[]) => engines.map((one) => ({ ...one, stopping: false, url: "http://127.0.0.1:1" }));
const toB: GatewayRouting = { planId: "new", active: [b.id], cordoned: [a.id] };
const found = (change: Partial<Found["observation"]>, inFlight = 0): Found => ({
  observation: { engines: standing(a, b), routing: toB, outcomes: "w", ...change },
  inFlightAt: () => inFlight,
});
const effect = (action: StepAction, seen: Found) => effectOf(action, seen, true);
const drain: StepAction = { kind: "drain", engineId: a.id, routing: toB };

it("sees what a step did", () => {
  expect(effect({ kind: "load-outcomes", workloadId: "w" }, found({}))).toEqual({ holds: expect.any(String) });
  expect(effect({ kind: "start", engine: b }, found({}))).toEqual({ holds: "it is listed" });
  expect(effect({ kind: "verify", engineId: b.id, model: "b" }, found({}))).toEqual({ holds: "it still stands" });
  expect(effect({ kind: "switch-policy", routing: toB }, found({}))).toEqual({ holds: "the gateway says that routing" });
  expect(effect(drain, found({}))).toEqual({ holds: "it takes nothing new and has nothing in flight" });
  const routing = { ...toB, cordoned: [] };
  expect(effect({ kind: "stop", engineId: a.id, routing }, found({ engines: standing(b), routing }))).toEqual({ holds: "it is gone" });
});

it("says what was expected and what was found in its place", () => {
  expect(effect({ kind: "load-outcomes", workloadId: "x" }, found({}))).toEqual({
    waiting: "expected the prompts of the plan's workload, found those of another workload",
  });
  expect(effect({ kind: "start", engine: b }, found({ engines: standing(a) }))).toEqual({
    waiting: `expected ${b.id} among the engines, found ${a.id}`,
  });
  expect(effect(drain, found({}, 3))).toEqual({ waiting: `expected nothing in flight at ${a.id}, found 3 requests` });
  expect(effect(drain, found({ routing: { planId: "old", active: [a.id], cordoned: [] } }))).toEqual({
    waiting: `expected the gateway to send to ${b.id} by plan new and nothing new to ${a.id}, found to ${a.id} by plan old`,
  });
  const stop: StepAction = { kind: "stop", engineId: a.id, routing: toB };
  expect(effect(stop, found({}))).toEqual({ waiting: `expected ${a.id} gone, found it still there` });
});

it("does not miss a cordoned engine that is gone, nor mind a model that stays listed without one", () => {
  const routing: GatewayRouting = { planId: "new", active: [b.id], cordoned: ["stand-in"] };
  expect(effect({ kind: "switch-policy", routing: toB }, found({ engines: standing(b), routing }))).toMatchObject({
    holds: expect.any(String),
  });
});
