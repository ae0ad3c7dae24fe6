import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import { hostTools } from "./testing/testHost";
import { standInKubernetes, startTestKubernetes, type TestKubernetes } from "./testing/testKubernetes";
import { StatusError } from "./testing/testObjectStore";

describe("Kubernetes host under an API server that fails in the middle", needs(standInKubernetes), () => {
  let kubernetes: TestKubernetes;
  beforeAll(async () => {
    kubernetes = await startTestKubernetes();
  }, 60_000);
  afterAll(() => kubernetes.stop(), 60_000);

  const { host, order, options, sentence, failing } = hostTools(() => kubernetes);
  const refusing = (writes: (method: string, url: string) => boolean, times = Number.POSITIVE_INFINITY) => {
    const { standIn } = kubernetes;
    if (standIn === null) throw new Error("There is no stand-in.");
    let left = times;
    standIn.fault = (method, url) => {
      if (left === 0 || !writes(method, url)) return null;
      left -= 1;
      return new StatusError(
        409,
        "Conflict",
        "the object has been modified; please apply your changes to the latest version and try again",
      );
    };
  };
  const appliesDeployment = (method: string, url: string) => method === "PATCH" && url.includes("/deployments/") && !url.includes("dryRun");

  it("tries again what met another writer", async () => {
    const engine = order([0]);
    refusing(appliesDeployment, 2);
    expect(await host({}, { awayMs: 20_000 }).start(engine, options())).toEqual({ ok: true, value: "loading" });
    expect((await host().stop(engine.id, options())).ok).toBe(true);
  }, 60_000);

  it("takes back what it had applied when the rest is refused to the end", async () => {
    refusing(appliesDeployment);
    expect(await failing(() => host().start(order([0]), options()))).toMatch(/answered 409: the object has been modified/);
    refusing(() => false);
  }, 60_000);

  it("ends what a stop that was broken off left", async () => {
    const before = await kubernetes.state();
    const engine = order([0]);
    expect((await host().start(engine, options())).ok).toBe(true);
    refusing((method, url) => method === "DELETE" && url.includes("/deployments/"));
    expect(sentence(await host().stop(engine.id, options()))).toMatch(/^Deployment \S+: The API server at \S+ answered 409/);
    refusing(() => false);
    expect(await host().stop(engine.id, options())).toEqual({ ok: true, value: "its GPUs are free" });
    expect(await host().stop(engine.id, options())).toEqual({ ok: true, value: "was gone already" });
    expect(await kubernetes.state()).toEqual(before);
  }, 60_000);
});
