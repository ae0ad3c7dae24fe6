import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import { GET } from "./route";

const nowhere = "http://127.0.0.1:9";
const promtool = "/usr/bin/promtool";

describe("the studio's own metrics", () => {
  let folder: string;
  let runtime: Runtime;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-metrics-"));
    runtime = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
    Object.assign(globalThis, { [Symbol.for("weir.runtime")]: runtime });
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });

  it("are there for Prometheus without signing in", async () => {
    const response = await GET();
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    expect(text).toContain("process_cpu_seconds_total");
    expect(text).toContain('weir_studio_planning_jobs{job="solve"} 0');
  });

  it("count a question to the planner and how it ended", async () => {
    const clusters = runtime.services.clusters;
    const made = clusters.describe({ name: "two", rows: [{ gpu: "l4", nodes: 1, gpusPerNode: 2, usdPerGpuHour: 1 }] }, "operator");
    if (!made.ok) throw new Error(made.message);
    const [workload] = runtime.services.workloads.list();
    const request = { workloadId: workload?.id ?? "", clusterId: made.id, requestsPerSecond: 1 };
    for await (const event of runtime.services.plans.explore(request, new AbortController().signal)) if (event.kind !== "progress") break;
    expect(await (await GET()).text()).toContain('weir_studio_planning_seconds_count{job="explore",outcome="answered"} 1');
  });

  it("pass promtool's check", needs(file(promtool)), async () => {
    const checked = spawnSync(promtool, ["check", "metrics"], { input: await (await GET()).text(), encoding: "utf8" });
    expect(checked.stdout + checked.stderr).toBe("");
    expect(checked.status).toBe(0);
  });
});
