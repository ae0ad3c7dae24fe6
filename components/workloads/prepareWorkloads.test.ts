import { expect, it } from "vitest";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { judgedText, prepareWorkloads, whereFrom } from "./prepareWorkloads";

const workload = (change: Partial<WorkloadSummary>): WorkloadSummary => ({
  id: "a",
  name: "support",
  createdAt: "2026-03-01T10:00:00Z",
  version: 1,
  parentId: null,
  profileId: null,
  generated: false,
  outcomesFrom: "a table",
  arrivalsFrom: "a trace",
  prompts: 1200,
  planningPrompts: 840,
  heldOutPrompts: 360,
  arrivals: 20_000,
  recordedRequestsPerSecond: 5.5,
  judge: { kind: "measured", auc: null },
  models: [{ model: "llama-3.1-8b", tableName: "8B", meanLabel: 71.25, meanOutputTokens: 100 }],
  meanInputTokens: 300,
  ...change,
});

it("shows the newest version of each name, the name that was worked on last first", () => {
  const groups = prepareWorkloads(
    [
      workload({ id: "v1", createdAt: "2026-03-01T10:00:00Z" }),
      workload({ id: "other", name: "code", createdAt: "2026-03-02T10:00:00Z" }),
      workload({ id: "v3", version: 3, createdAt: "2026-03-03T10:00:00Z" }),
      workload({ id: "v2", version: 2, createdAt: "2026-03-01T12:00:00Z" }),
    ],
    { v2: 1, v3: 4 },
  );
  expect(groups.map(({ name, newest, earlier }) => [name, newest.workload.id, earlier.map((row) => row.workload.id)])).toEqual([
    ["support", "v3", ["v2", "v1"]],
    ["code", "other", []],
  ]);
  expect(groups[0]?.newest).toMatchObject({ version: "v3", plans: "4 plans", rate: "5.5/s", prompts: "1,200" });
  expect(groups[1]?.newest.plans).toBeNull();
});

it("says where prompts and outcomes came from, what was done last first", () => {
  expect(whereFrom(workload({}))).toBe("table");
  expect(whereFrom(workload({ generated: true }))).toBe("generated");
  expect(whereFrom(workload({ profileId: "p" }))).toBe("profile");
  expect(whereFrom(workload({ observed: true }))).toBe("seen traffic");
  expect(whereFrom(workload({ profileId: "p", parentId: "v1" }))).toBe("other arrivals");
});

it("says of judged scores that emulated engines gave the answers, wherever it says that they were measured", () => {
  const by = { gate: { id: "gate", name: "Judge" }, label: { id: "right", name: "Reference" } };
  expect(judgedText(workload({}))).toBe("measured");
  expect(judgedText(workload({ measured: { emulated: false, ...by } }))).toBe("measured");
  expect(judgedText(workload({ measured: { emulated: true, ...by } }))).toBe("measured, emulated");
  expect(judgedText(workload({ judge: { kind: "modelled", auc: 0.8 } }))).toBe("modelled");
});
