import { describe, expect, it } from "vitest";
import { nodesText } from "./nodesText";

const cluster = { id: "c", name: "c", kind: "described", gpu: "h100-sxm", usdPerGpuHour: 3 } as const;

describe("the nodes of a cluster in words", () => {
  it("are told in runs that are alike, with the type where it is not the cluster's own", () => {
    const node = (name: string, gpus: number, gpu?: string) => ({ name, gpus, ...(gpu === undefined ? {} : { gpu }) });
    expect(nodesText({ ...cluster, nodes: [node("a", 8), node("b", 8), node("c", 8)] })).toBe("a to c: 8 each");
    expect(nodesText({ ...cluster, nodes: [node("a", 8), node("b", 4, "l40s"), node("c", 4, "l40s"), node("d", 4)] })).toBe(
      "a: 8, b to c: 4 l40s each, d: 4",
    );
  });
});
