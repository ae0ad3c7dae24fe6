import { afterEach, beforeEach, expect, it } from "vitest";
import { awaitEngine } from "@/server/clusters/connector/awaitEngine";
import { orderOf, testEngines, unwatched } from "./testing/testEngines";

let engines: ReturnType<typeof testEngines>;
beforeEach(() => {
  engines = testEngines();
});
afterEach(() => engines.clear());

it("never counts an engine as ready that is healthy, lists its model and answers no request, and says what its log says", async () => {
  const host = engines.host();
  const order = orderOf("hang", 0);
  await host.start(order, unwatched());
  const waits: string[] = [];
  const options = { ...unwatched(), report: (wait: string) => waits.push(wait), limitMs: 1_000 };
  expect(await awaitEngine(host, order, { ...options, limitMs: 31_000 })).toEqual({
    ok: false,
    message: "After 31 s: hang generates no token: nothing came in time. Its log: No block found in 60 seconds.",
  });
  expect(waits.at(-1)).toContain("hang generates no token");
  expect(await host.stop(order.id, unwatched())).toMatchObject({ ok: true });
}, 120_000);
