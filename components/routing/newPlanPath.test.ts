import { expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { newPlanPath, rateToPlan } from "./newPlanPath";

const plan = examplePlanDraft();
const query = (path: string) => Object.fromEntries(new URLSearchParams(path.split("?")[1]));

it("opens the Plan page with what was asked of the plan, at the present rate, with the slack that needs it", () => {
  const path = newPlanPath(plan, 96, { kind: "p95", value: 0.6 });
  expect(path).toMatch(/^\/plan\?/);
  expect(query(path)).toMatchObject({ workload: "w", rate: "96", floor: "70", gpus: "2", policy: "cascade", slack: "60" });
  expect(query(path)).not.toHaveProperty("tau");
  expect(query(newPlanPath(plan, 96, { kind: "p95", value: 1.4 }))).toMatchObject({ slack: "100" });
  expect(query(newPlanPath(plan, 96, { kind: "tau", value: 2.3000000000000003 }))).toMatchObject({ policy: "slack", tau: "2.3" });
});

it("asks for no highest quality within a latency, for which slack has no meaning", () => {
  const objective = { ...plan.inputs.objective, kind: "quality-under-latency" as const };
  const path = newPlanPath({ inputs: { ...plan.inputs, objective } }, 4, { kind: "p95", value: 0.2 });
  expect(query(path)).not.toHaveProperty("objective");
});

it("plans for the rate that is measured, and for the planned one while little is", () => {
  const frame = (requests: number, recent: number) =>
    ({ measured: { requests, windowSeconds: 60 }, recent: { requests: recent } }) as LiveFrame;
  expect(rateToPlan(frame(5_779, 90), plan)).toBe(96);
  expect(rateToPlan(frame(20, 20), plan)).toBe(4);
  expect(rateToPlan(frame(5_779, 0), plan)).toBe(4);
});
