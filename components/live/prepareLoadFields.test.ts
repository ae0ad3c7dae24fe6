import { expect, it } from "vitest";
import type { LoadStatus } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { prepareLoadFields } from "./prepareLoadFields";

const workloads = [
  { id: "w1", name: "chat" },
  { id: "w2", name: "code" },
];
const plan = { inputs: { workload: { id: "w1", requestsPerSecond: 8 } } } as unknown as Plan;
const status: LoadStatus = {
  state: "running",
  id: "l1",
  workloadName: "code",
  requestsPerSecond: 42,
  seconds: 600,
  elapsedSeconds: 10,
  sent: 420,
  finished: 300,
  failed: 0,
  p50Seconds: 1,
  p95Seconds: 2,
  quality: null,
  error: null,
};

it("mirrors a load that runs, whatever was chosen on this page", () => {
  const fields = prepareLoadFields({ status, chosen: { requestsPerSecond: 3, seconds: 30, workloadId: "w1" }, plan, workloads });
  expect(fields).toEqual({ workloadId: "w2", requestsPerSecond: 42, seconds: 600 });
});

it("goes back to what was chosen when the load is done, and to the plan's workload for the rest", () => {
  const fields = prepareLoadFields({ status: { ...status, state: "done" }, chosen: { seconds: 30 }, plan, workloads });
  expect(fields).toEqual({ workloadId: "w1", requestsPerSecond: 8, seconds: 30 });
});
