import { expect, it } from "vitest";
import { secretsInUse } from "./secretsInUse";
import type { Store } from "./store/store";

const key = { environment: "WEIR_ENGINE_A" };
const endpoint = { model: "llama-3.1-8b", gpu: "l40s", precision: "bf16" };

/** A store of a studio from before secrets had origins, with what is asked of it. */
const storeWith = (clusters: readonly object[], profiles: readonly object[]): Store =>
  ({ clusters: { list: () => clusters }, profiles: { list: () => profiles } }) as unknown as Store;

const answererAt = (url: string) => ({ model: "m", at: { kind: "url", url, key } });

it("keeps what is attached and what runs at work: engines, judges, gateways and open profiles have their keys entered", () => {
  const attached = {
    connection: {
      kind: "endpoints",
      endpoints: [
        { ...endpoint, name: "a", url: "http://a:8000", key },
        { ...endpoint, name: "b", url: "http://b:8000/team", key: { file: "b.key" } },
        { ...endpoint, name: "c", url: "http://c:8000" },
      ],
      judge: { model: "j", url: "http://j:8000", keyFromEnvironment: "WEIR_JUDGE_J" },
    },
    gateway: { runBy: "operator", url: "http://g:4610", adminUrl: "http://g:4611" },
  };
  const broken = { connection: { kind: "endpoints", endpoints: [] }, gateway: { runBy: "studio", port: 1, adminPort: 2 } };
  const request = { models: [answererAt("http://p:1/v1")], measures: [] };
  const over = { state: "done", request: { models: [answererAt("http://over:1")], measures: [] } };
  const store = storeWith([attached, broken, { connection: null, gateway: null }], [{ state: "paused", request }, over]);
  expect(secretsInUse(store, { gatewayAdminUrl: "http://127.0.0.1:4611" })).toEqual([
    { key: { environment: "WEIR_ADMIN_TOKEN" }, origin: "http://127.0.0.1:4611" },
    { key, origin: "http://a:8000" },
    { key: { file: "b.key" }, origin: "http://b:8000" },
    { key: { environment: "WEIR_JUDGE_J" }, origin: "http://j:8000" },
    { key: { environment: "WEIR_ADMIN_TOKEN" }, origin: "http://g:4611" },
    { key, origin: "http://p:1" },
  ]);
});
