import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signedInHeaders } from "@/server/api/testing/signedInHeaders";
import { studioSettings } from "@/server/lib/studioSettings";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createRuntime, type Runtime } from "@/server/runtime";
import { openStore } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { generatedWorkload } from "@/solver/workload/generated";
import { POST as upload } from "../uploads/route";
import { GET as download } from "./[id]/route";

const origin = "http://127.0.0.1:4600";
const nowhere = "http://127.0.0.1:9";
const actor = "operator";
const workload = { ...generatedWorkload({ prompts: 60, seed: 5 }), name: "support chat" };

describe("a workload, out of the studio and back", () => {
  let folder: string;
  let runtime: Runtime;
  let signedIn: Record<string, string> = {};
  let id = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-workloads-"));
    const store = openStore(folder);
    id = storeWorkload(store, workload);
    store.close();
    runtime = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
    Object.assign(globalThis, { [Symbol.for("weir.runtime")]: runtime });
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });

  const get = (of: string) =>
    download(new Request(`${origin}/api/workloads/${of}`, { headers: signedIn }), { params: Promise.resolve({ id: of }) });
  const send = async (body: string) => {
    const headers = { host: "127.0.0.1:4600", ...signedIn, origin };
    const response = await upload(new Request(`${origin}/api/uploads?kind=workload&name=support.jsonl`, { method: "POST", body, headers }));
    return { status: response.status, ...((await response.json()) as { uploadId: string; survey: unknown; message?: string }) };
  };

  const text = async () => (await get(id)).text();

  it("is given to nobody who is not signed in", async () => {
    expect((await get(id)).status).toBe(401);
    signedIn = signedInHeaders(runtime);
    expect((await get("none")).status).toBe(404);
  });

  it("is written under its name and comes back under the same id", async () => {
    const response = await get(id);
    expect(response.headers.get("content-disposition")).toContain("support-chat.jsonl");
    const written = await response.text();
    const refused = await send(written);
    expect(refused.survey).toMatchObject({ name: "support chat", prompts: 60, models: workload.outcomes.models.map(({ model }) => model) });
    const { workloads } = runtime.services;
    expect(await workloads.importLines(refused.uploadId, actor)).toEqual({
      ok: false,
      message: 'The same prompts and arrivals are here already, as "support chat" v1.',
    });
    expect(workloads.remove(id, actor)).toEqual({ ok: true });
    expect(await workloads.importLines((await send(written)).uploadId, actor)).toEqual({ ok: true, id });
    expect(await text()).toBe(written);
  });

  it("is refused with its line where it is damaged, and nothing is kept of it", async () => {
    const kept = readdirSync(join(folder, "uploads")).length;
    const lines = (await text()).split("\n");
    lines[4] = (lines[4] ?? "").slice(0, -20);
    expect(await send(lines.join("\n"))).toMatchObject({ status: 422, message: expect.stringMatching(/^support\.jsonl line 5: /) });
    expect(await send((await text()).replaceAll(`"${workload.outcomes.models[0]?.model}"`, '"mystery"'))).toMatchObject({ status: 422 });
    expect(readdirSync(join(folder, "uploads"))).toHaveLength(kept);
  });

  it("knows what was made of it with other arrivals, and each of those what it came from", async () => {
    const { workloads } = runtime.services;
    const hours = Array.from({ length: 24 }, (_, hour) => (hour < 12 ? 0.5 : 2));
    const made = await workloads.replaceArrivals(
      {
        workloadId: id,
        arrivals: { kind: "hours", requestsPerSecond: hours },
        segments: [
          { name: "night", fromHour: 0, toHour: 12 },
          { name: "day", fromHour: 12, toHour: 24 },
        ],
        timeZone: "Europe/Berlin",
      },
      actor,
    );
    const ids = made.ok ? made.ids : [];
    expect(workloads.ties(id)?.children).toEqual([
      { id: ids[0], name: "support chat · night", version: 1 },
      { id: ids[1], name: "support chat · day", version: 1 },
    ]);
    expect(workloads.ties(ids[1] ?? "")).toMatchObject({ parent: { id, name: "support chat" }, job: null, plans: [] });
    const content = workloads.compare(ids[0] ?? "", ids[1] ?? "")?.content;
    expect(content?.same).toEqual({ prompts: true, outcomes: true, arrivals: false });
    expect(content?.requestsPerSecond.apart).toBe(true);
    const again = await workloads.replaceArrivals(
      { workloadId: id, arrivals: { kind: "workload", workloadId: ids[0] ?? "" }, segments: [], timeZone: "UTC" },
      actor,
    );
    expect(again).toMatchObject({ ok: false, message: expect.stringContaining('as "support chat · night"') });
  });

  it("counts the plans that rest on it, and names the cluster of each", async () => {
    const { clusters, plans, workloads } = runtime.services;
    const described = clusters.describe({ name: "planned", rows: [{ gpu: "l40s", nodes: 1, gpusPerNode: 2, usdPerGpuHour: 1.5 }] }, actor);
    const draft = examplePlanDraft();
    const cluster = { ...draft.inputs.cluster, id: described.ok ? described.id : "" };
    const inputs = { ...draft.inputs, cluster, workload: { ...draft.inputs.workload, id } };
    expect(await plans.importDocument(sealPlan({ ...draft, inputs }, new Date("2026-01-01T00:00:00Z")), actor)).toMatchObject({ ok: true });
    expect(workloads.uses()[id]).toBe(1);
    expect(workloads.ties(id)?.plans).toMatchObject([
      { clusterId: cluster.id, inForce: false, requestsPerSecond: inputs.workload.requestsPerSecond },
    ]);
  });
});
