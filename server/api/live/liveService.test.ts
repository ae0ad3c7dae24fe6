import { expect, it } from "vitest";
import type { StepAction, StoredStep } from "@/server/store/documents/storedStep";
import { type PlansAsked, plansInForce } from "./liveService";

const routing = (planId: string | null) => ({ planId, active: [], cordoned: [] });
const step = (action: StepAction, endedAtMs: number | null, state: StoredStep["state"] = "done"): StoredStep => ({
  id: "1",
  kind: action.kind,
  text: "",
  state,
  detail: "",
  startedAt: null,
  endedAt: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
  action,
});
const switched = (planId: string | null, atMs: number | null, state?: StoredStep["state"]) => ({
  steps: [
    step({ kind: "verify", engineId: "e", model: "m" }, 0),
    step({ kind: "switch-policy", routing: routing(planId) }, atMs, state),
    step({ kind: "stop", engineId: "e", routing: routing(planId) }, atMs === null ? null : atMs + 50, "done"),
  ],
});
const plans = (asked: Partial<PlansAsked>) => plansInForce({ applications: [], running: null, fromMs: 0, toMs: 10_000, ...asked });

it("has a plan in force from the switch of its policy to that to the next plan, whatever their order", () => {
  const applications = [switched("b", 300), switched("a", 100)];
  expect(plans({ applications, running: { planId: "b", sinceMs: 301 } })).toEqual([
    { planId: "a", fromMs: 100, toMs: 300 },
    { planId: "b", fromMs: 300, toMs: null },
  ]);
});

it("does not count an application that never came to switch", () => {
  const applications = [switched("failed", 400, "failed"), switched("aborted", null, "skipped"), switched("a", 100)];
  expect(plans({ applications, running: { planId: "a", sinceMs: 101 } })).toEqual([{ planId: "a", fromMs: 100, toMs: null }]);
});

it("counts an application that switched and was then undone, for as long as it lasted", () => {
  const undone = { steps: [...switched("b", 300).steps, ...switched("a", 450).steps] };
  expect(plans({ applications: [undone, switched("a", 100)], running: { planId: "a", sinceMs: 451 } })).toEqual([
    { planId: "a", fromMs: 100, toMs: 300 },
    { planId: "b", fromMs: 300, toMs: 450 },
    { planId: "a", fromMs: 450, toMs: null },
  ]);
});

it("takes a plan that only lists its engines anew for the same plan still", () => {
  const applications = [switched("a", 200), switched("a", 100)];
  expect(plans({ applications, running: { planId: "a", sinceMs: 101 } })).toEqual([{ planId: "a", fromMs: 100, toMs: null }]);
});

it("has nothing in force after a rollback to the empty cluster", () => {
  expect(plans({ applications: [switched(null, 500), switched("a", 100)] })).toEqual([{ planId: "a", fromMs: 100, toMs: 500 }]);
});

it("knows of a rollback that the gateway made by itself", () => {
  const applications = [switched("b", 300), switched("a", 100)];
  expect(plans({ applications, running: { planId: "a", sinceMs: 600 } }).slice(1)).toEqual([
    { planId: "b", fromMs: 300, toMs: 600 },
    { planId: "a", fromMs: 600, toMs: null },
  ]);
});

it("gives whole spans that reach into the range and no others", () => {
  const applications = [switched("c", 500), switched("b", 300), switched("a", 100)];
  const running = { planId: "c", sinceMs: 501 };
  expect(plans({ applications, running, fromMs: 300, toMs: 500 })).toEqual([{ planId: "b", fromMs: 300, toMs: 500 }]);
});
