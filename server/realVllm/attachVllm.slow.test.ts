import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { ensureTestAddon, testAddonsFolder } from "@/server/addons/testing/testAddons";
import { profileInUse } from "@/server/calibration/profileInUse";
import { processTable } from "@/server/processes/processIdentity";
import { profiledRequests } from "@/server/profiling/profiledRequests";
import { openStore } from "@/server/store/store";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { attachVllm } from "./attachVllm";

const missing = await ensureTestAddon("real-engine");

describe("a cluster of vLLM, before vLLM runs", needs(condition("the add-on real-engine", missing === null)), () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-attach-"));
  });
  afterAll(() => {
    // The judge outlives the attachment: the studio takes it over.
    const logs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".log"));
    for (const log of logs) for (const pid of processTable.writersOf(join(folder, log))) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true });
  });

  it("has a timed judge, and a workload of real answers, whose questions a load on it asks again, and is not asked twice", async () => {
    const root = join(import.meta.dirname, "../..");
    const environment = { ...process.env, WEIR_STATE_DIR: folder, WEIR_ADDONS_DIR: testAddonsFolder };
    const said: string[] = [];
    const { signal } = new AbortController();
    const parts = {
      program: "/no/vllm",
      stateDir: folder,
      root,
      environment,
      signal,
      measures: true,
      say: (line: string) => said.push(line),
    };
    const attached = await attachVllm(parts);
    if (!attached.ok) throw new Error(attached.message);
    const store = openStore(folder);
    const workloadId = store.clusters.get(attached.id)?.suggested?.workloadId ?? "";
    const workload = loadWorkload(store, workloadId);
    const profile = store.profiles.get(store.workloads.summary(workloadId)?.profileId ?? "");
    if (workload === null || profile === null) throw new Error("nothing is suggested");
    // vLLM answered nothing, so no record says so.
    expect(profile).toMatchObject({ state: "done", actor: "weir" });
    expect(profile.request.models.map(({ model, at }) => [model, at.kind])).toEqual([
      ["arith-small", "url"],
      ["arith-large", "url"],
    ]);
    expect(store.prompts.get(profile.promptSetId)).toMatchObject({ prompts: 600, withReference: 600 });
    const means = workload.outcomes.models.map(({ label }) => label.reduce((sum, one) => sum + one, 0) / label.length);
    expect(means[0]).toBeGreaterThan(55);
    expect(means[0]).toBeLessThan(75);
    expect(means[1]).toBeGreaterThan(98);
    const requests = profiledRequests({ store, workloadId, workload, clusterId: attached.id });
    expect(requests?.body(0)).toMatchObject({ messages: [{ role: "user" }], temperature: 0, max_tokens: 16 });
    expect(requests?.qualityOf(0, "no number")).toBe(0);
    // An engine that does not start is no reason to have no cluster.
    expect(said.at(-1)).toMatch(/^vLLM was not measured with arith-small: .+ Predictions for it rest on round figures of a processor core/);
    expect(profileInUse(store).id).toBe("vllm");
    // So that plans use its time, which no default comes near.
    expect(store.clusters.get(attached.id)?.judge?.timed?.times?.meanSeconds).toBeLessThan(0.2);
    store.close();

    expect(await attachVllm({ ...parts, measures: false })).toEqual(attached);
    expect(said.at(-1)).toMatch(/^vLLM is not measured\. Predictions for it rest on round figures .+ run `npm run real` again/);
    const again = openStore(folder);
    expect([again.profiles.list().length, again.workloads.list().length, again.clusters.list().length]).toEqual([1, 1, 1]);
    again.close();
  });
});
