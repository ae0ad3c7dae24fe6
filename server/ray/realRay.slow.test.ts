import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { connectorContract } from "@/server/clusters/testing/connectorContract";
import { createRayHost } from "./rayHost";
import { orderOn, unwatched } from "./testing/testRay";
import { startRayCluster } from "./testing/testRayCluster";
import { type RealRay, startRealRay } from "./testing/testRealRay";

const path = "/api/serve/applications/";
const began = Date.now();
const ray = await startRealRay();
if (typeof ray === "string") {
  it("runs engines on a real Ray", needs(condition(`a real Ray: ${ray}`, false)), () => undefined);
} else {
  console.log(`Ray ${ray.version} on ${ray.node}, there after ${((Date.now() - began) / 1000).toFixed(1)} s.`);
  realRay(ray);
}

function realRay(real: RealRay): void {
  const host = (clusterId = "lab") => createRayHost(real.connection, { clusterId, everyMs: 300 });
  const applications = async () => {
    const { text } = await real.call(path);
    return (
      JSON.parse(text) as { applications: Record<string, { status: string; deployed_app_config: object | null; deployments: object }> }
    ).applications;
  };
  const replicasOf = async (name: string) => JSON.stringify((await applications())[name]?.deployments).match(/"actor_id": ?"\w+"/g);

  // The dashboard loads its modules at the first request: on a busy machine that takes longer than the limit of a look.
  beforeAll(
    () => vi.waitFor(async () => expect(await host().observe({})).toMatchObject({ ok: true }), { timeout: 80_000, interval: 500 }),
    90_000,
  );
  afterAll(async () => {
    const foreign = (await applications()).foreign;
    if (foreign !== undefined) await real.call(path, '{"applications": []}');
    await real.stop();
  }, 60_000);

  connectorContract(`Ray Serve ${real.version}`, () => startRayCluster(host(), real.node, async () => undefined));

  describe("a real Ray", () => {
    it("keeps the applications of others, and their very replicas, while engines come and go", async () => {
      // Numbers that JavaScript would write differently, which would make Ray rebuild the application.
      const args = '{"model": "foreign", "gpus": 0, "node": "", "weight": 1.0, "seed": 12345678901234567890}';
      const runtime = JSON.stringify({ working_dir: real.workingDir, env_vars: { SECRET: "s3cret-value" } });
      const foreign = `{"name": "foreign", "route_prefix": "/foreign", "import_path": "small_engine:build", "runtime_env": ${runtime}, "args": ${args}}`;
      expect((await real.call(path, `{"applications": [${foreign}]}`)).status).toBe(200);
      await vi.waitFor(async () => expect((await applications()).foreign?.status).toBe("RUNNING"), { timeout: 40_000, interval: 500 });
      const before = await replicasOf("foreign");
      expect(before).toHaveLength(1);
      const engine = orderOn(real.node, [0]);
      expect(await host().start(engine, unwatched())).toMatchObject({ ok: true });
      await vi.waitFor(async () => expect(await host().why(engine.id, {})).toBeNull(), { timeout: 40_000, interval: 500 });
      expect(await host().actual?.(engine.id, {})).toEqual(host().generate?.(engine, null));
      const seen = await host("other").observe({});
      expect(seen).toMatchObject({ ok: true, value: { engines: [], nodes: [{ name: real.node, gpus: 2, othersGpus: 1 }] } });
      expect(await host().stop(engine.id, unwatched())).toEqual({ ok: true, value: "its GPUs are free" });
      expect(await replicasOf("foreign")).toEqual(before);
      const { text } = await real.call(path);
      expect(text).toContain(args);
      expect(text).toContain('{"SECRET": "s3cret-value"}');
    }, 110_000);

    it("says why an engine could not be deployed, without a stack", async () => {
      const engine = orderOn(real.node, [0], "broken");
      expect(await host().start(engine, unwatched())).toMatchObject({ ok: true });
      const failed = { failed: "Ray could not deploy it: RuntimeError: no such weights." };
      await vi.waitFor(async () => expect(await host().why(engine.id, {})).toEqual(failed), { timeout: 50_000, interval: 500 });
      expect(await host().stop(engine.id, unwatched())).toMatchObject({ ok: true });
    }, 110_000);

    it("refuses a token that is not its own", async () => {
      if (real.connection.key === undefined) return;
      vi.stubEnv("WEIR_ENGINE_RAY_TOKEN", "0".repeat(64));
      const refused = await createRayHost(real.connection, { clusterId: "lab" }).observe({});
      vi.unstubAllEnvs();
      expect(refused.ok ? "" : refused.message).toMatch(/does not take the connection's key/);
    });
  });
}
