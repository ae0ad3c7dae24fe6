import { describe, expect, it } from "vitest";
import { clusterConnectionSchema } from "./connection";
import { connectionChanges } from "./connectionChanges";

const endpoint = (name: string, more: object = {}) => ({
  name,
  url: `http://${name}:1`,
  model: "m",
  gpu: "l40s",
  precision: "bf16",
  ...more,
});
const endpoints = (...of: readonly object[]) => clusterConnectionSchema.parse({ kind: "endpoints", endpoints: of });
const processes = (more: object) => clusterConnectionSchema.parse({ kind: "processes", models: { m: { source: "s" } }, ...more });

describe("what another connection changes", () => {
  it("is told by endpoint and field, and never what is in them", () => {
    const before = endpoints(endpoint("a"), endpoint("b"));
    const key = { environment: "WEIR_ENGINE_PRIVATE" };
    const says = connectionChanges(before, endpoints(endpoint("b", { key, tp: 2 }), endpoint("c")));
    expect(says).toBe("Changed: added c; removed a; b: tp, key.");
    expect(says).not.toContain("PRIVATE");
  });

  it("is told by field for other kinds, and that it is nothing where it is", () => {
    expect(connectionChanges(processes({}), processes({ node: "here", ports: { from: 1, to: 2 } }))).toBe("Changed: ports; node.");
    expect(connectionChanges(processes({}), processes({}))).toBe("Nothing changed.");
    expect(connectionChanges(null, processes({}))).toContain("was replaced");
  });
});
