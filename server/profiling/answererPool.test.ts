import { expect, it, vi } from "vitest";
import { createConnectionPool } from "@/server/calls/upstream";
import type { Answerer } from "@/server/contracts/studio";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import { type PoolContext, upstreamsOf } from "./answererPool";

const key = { environment: "WEIR_ENGINE_PROFILED" };
const context: PoolContext = { clusterOf: () => null, clusterName: (id) => id, connections: createConnectionPool(1_000) };
const at = (url: string): Answerer => ({
  ...{ model: "m", usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 },
  at: { kind: "url", url, key },
});

it("asks an answerer only where its key was entered for, and at no link-local address", () => {
  vi.stubEnv("WEIR_ENGINE_PROFILED", "sk-profiled");
  const leave = enterTestKeys([{ key, url: "http://a:8000" }]);
  expect(upstreamsOf(at("http://a:8000/v1"), context)).toMatchObject({
    ok: true,
    upstreams: [{ url: "http://a:8000/v1/chat/completions" }],
  });
  expect(upstreamsOf(at("http://evil:8000/v1"), context)).toMatchObject({
    ok: false,
    message: expect.stringContaining("was entered for http://a:8000 and is not sent to http://evil:8000"),
  });
  expect(upstreamsOf(at("http://169.254.169.254"), context)).toMatchObject({
    ok: false,
    message: expect.stringContaining("WEIR_ALLOWED_ADDRESSES"),
  });
  leave();
  vi.unstubAllEnvs();
});
