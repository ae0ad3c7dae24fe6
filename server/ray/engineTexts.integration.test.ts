import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { orderOn, startTestRay, unwatched } from "./testing/testRay";
import { testImportPaths } from "./testing/testServe";

let ray: Awaited<ReturnType<typeof startTestRay>>;
beforeEach(async () => {
  ray = await startTestRay();
});
afterEach(() => ray.serve.stop());

const node = "10.0.0.1";
const small = orderOn(node, [0]);
const text = (answer: { ok: true; value: string | null } | { ok: false; message: string }): string => {
  if (!answer.ok) throw new Error(answer.message);
  return answer.value ?? "";
};

describe("an engine's application as text", () => {
  it("has a name and a route of its own", () => {
    const generated = text(ray.host().generate!(small, "plan"));
    expect(parse(generated)).toMatchObject({ name: expect.stringMatching(/^weir-/), route_prefix: expect.any(String) });
  });

  it("is tried without a PUT, and says what a rehearsal cannot show", async () => {
    const host = ray.host();
    await host.start(orderOn(node, [0, 1, 2, 3]), unwatched());
    const puts = ray.serve.puts.length;
    const tried = await host.rehearse!(small, unwatched());
    expect(tried).toMatchObject({ ok: true, value: expect.stringContaining("Ray has no dry run") });
    expect(ray.serve.puts).toHaveLength(puts);
  });

  it("says of applications of others that they are kept, and where logs are", async () => {
    ray.serve.deploy({ name: "search", route_prefix: "/search", import_path: testImportPaths.serving, args: { model: "search" } });
    const host = ray.host();
    const seen = await host.observe({});
    expect(seen.ok && seen.value.notes).toContain(
      "The application search under /search does not belong to this cluster and is kept as it is.",
    );
    expect(await host.rehearse!(small, unwatched())).toMatchObject({ value: expect.stringContaining("keep search as they are") });
    expect(await host.log!(small.id, {})).toEqual({ ok: false, message: `Ray has no application of ${small.id}.` });
    await host.start(small, unwatched());
    expect(await host.log!(small.id, {})).toMatchObject({ ok: false, message: expect.stringContaining("session_latest/logs/serve") });
  });
});
