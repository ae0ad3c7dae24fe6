import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import { hostTools } from "./testing/testHost";
import { standInKubernetes, startTestKubernetes, type TestKubernetes } from "./testing/testKubernetes";

describe("what is listed for a look", needs(standInKubernetes), () => {
  let kubernetes: TestKubernetes;
  beforeAll(async () => {
    kubernetes = await startTestKubernetes();
  }, 60_000);
  afterAll(() => kubernetes.stop(), 60_000);

  const { host, observed } = hostTools(() => kubernetes);

  it("has nodes and other people's pods, which are many, no more than every few seconds", async () => {
    const asked: string[] = [];
    const { standIn } = kubernetes;
    if (standIn === null) throw new Error("There is no stand-in.");
    standIn.fault = (_, url) => {
      if (/^\/api\/v1\/(nodes|pods)\?/.test(url)) asked.push(url);
      return null;
    };
    const one = host();
    for (let look = 0; look < 3; look += 1) expect((await observed(one)).nodes).toHaveLength(2);
    expect(asked).toHaveLength(2);
  });
});
