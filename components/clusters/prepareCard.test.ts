import { describe, expect, it } from "vitest";
import type { ClusterDetail, ClusterEngine, ClusterSummary } from "@/server/contracts/studio";
import {
  absenceText,
  detachSentences,
  engineText,
  freeGpus,
  measurePath,
  noDriftText,
  prepareCard,
  shapeText,
  sightNote,
} from "./prepareCard";

const node = (name: string, gpu: string, change: Partial<ClusterDetail["nodes"][number]> = {}) => ({
  ...{ name, gpu, gpus: 8, used: 0, othersUse: 0, closed: null },
  ...change,
});
const engine = (change: Partial<ClusterEngine> = {}): ClusterEngine => ({
  ...{ id: "e", model: "llama-3.1-8b", served: "llama", url: "http://e:8000", gpu: "h100-sxm", tp: 2, pp: 1, place: "node1: 0, 1" },
  ...{ state: "serving", engine: { type: "vLLM", version: "0.11.0" }, absent: [] },
  ...change,
});
const detail: ClusterDetail = {
  ...{
    clusterId: "c",
    connectionText: null,
    topology: "planned",
    observedAt: "2026-01-01T00:00:00Z",
    judges: [],
    notes: [],
    attention: [],
    drift: null,
  },
  gateway: { url: "http://g:4610", adminUrl: "http://g:4611", runBy: "studio" },
  nodes: [
    node("node1", "h100-sxm", { used: 4, othersUse: 1 }),
    node("node2", "h100-sxm", { closed: "is cordoned" }),
    node("node3", "l40s"),
  ],
  engines: [engine(), engine({ id: "f", state: "draining" }), engine({ id: "g", model: "qwen2.5-7b" })],
};
const summary = {
  spec: {
    ...{ id: "c", name: "c", kind: "kubernetes", gpu: "h100-sxm", usdPerGpuHour: 2.5, otherUsdPerGpuHour: { l40s: 0 } },
    nodes: [
      { name: "node1", gpus: 8 },
      { name: "node2", gpus: 8 },
      { name: "node3", gpus: 8, gpu: "l40s" },
    ],
  },
  runningPlanId: "p",
  health: { state: "up", reason: "" },
  gatewayUrl: "http://g:4610",
} as unknown as ClusterSummary;

describe("what a cluster's card says", () => {
  it("counts GPUs by type: used, free, of others and on closed nodes", () => {
    expect(prepareCard(summary, detail).gpus).toEqual([
      "4 of 16 h100-sxm used, 3 free, 1 used by others, 8 on closed nodes",
      "0 of 8 l40s used, 8 free",
    ]);
  });

  it("counts GPUs as they are kept, and no engines, until it was seen", () => {
    for (const unseen of [undefined, null, { ...detail, observedAt: null, nodes: [], engines: [] }]) {
      expect(prepareCard(summary, unseen)).toMatchObject({ gpus: ["16 × h100-sxm", "8 × l40s"], engines: null });
    }
  });

  it("counts engines by model, and how many of them serve where not all do", () => {
    expect(prepareCard(summary, detail).engines).toEqual(["2 × llama-3.1-8b (1 serving)", "1 × qwen2.5-7b"]);
    expect(prepareCard({ ...summary, runningPlanId: null }, detail).engines).toEqual(["2 × llama-3.1-8b", "1 × qwen2.5-7b"]);
  });

  it("says where a type has no price rather than that it is free", () => {
    expect(prepareCard(summary, detail).price).toBe("$2.50 per h100-sxm and hour, no price per l40s and hour");
  });

  it("gives clients their base URL and a line to try it with, where there is a gateway", () => {
    expect(prepareCard(summary, detail)).toMatchObject({ baseUrl: "http://g:4610/v1", curl: "curl http://g:4610/v1/models" });
    expect(prepareCard({ ...summary, gatewayUrl: null }, detail)).toMatchObject({ baseUrl: null, curl: null });
  });
});

describe("an engine in words", () => {
  it("is its type and version, and its shape on its GPUs", () => {
    expect(engineText(engine())).toBe("vLLM 0.11.0");
    expect(engineText(engine({ engine: { type: "SGLang", version: null } }))).toBe("SGLang");
    expect(engineText(engine({ engine: null }))).toBe("–");
    expect(shapeText(engine({ tp: 4, pp: 2 }))).toBe("8 × h100-sxm, tp 4, pp 2");
    expect(shapeText(engine({ tp: 1 }))).toBe("h100-sxm");
  });
});

describe("the way to measure an engine", () => {
  it("has its address, its own name of the model, its card and its shape", () => {
    const path = measurePath(engine({ tp: 4, pp: 2 }), "c 1");
    expect(path).toBe("/calibration?cluster=c+1&engine=http%3A%2F%2Fe%3A8000&served=llama&gpu=h100-sxm&tp=4&pp=2");
  });

  it("is missing where the engine is", () => {
    expect(measurePath(engine({ state: "missing", url: "" }), "c")).toBeNull();
  });
});

describe("an engine that does not answer", () => {
  it("lacks all figures, and is named where nothing drifts", () => {
    const silent = engine({ state: "silent" });
    expect(absenceText(silent)).toContain("does not answer");
    expect(absenceText(engine())).toBe("nothing missing");
    expect(noDriftText([engine({ id: "f" }), silent])).toBe("Nothing was changed, but some engines do not serve: e does not answer.");
    expect(noDriftText([engine()])).toContain("None");
  });
});

describe("a node", () => {
  it("that is closed has no free GPUs", () => {
    expect(detail.nodes.map(freeGpus)).toEqual([3, 0, 8]);
  });
});

describe("letting go of a cluster", () => {
  it("says whose engines run on, and what becomes of the gateway", () => {
    expect(detachSentences({ ...detail, topology: "given" }).join(" ")).toContain("they are managed outside Weir");
    expect(detachSentences(detail).join(" ")).toContain("Its gateway at http://g:4610 takes no new request");
    expect(detachSentences({ ...detail, gateway: { ...detail.gateway, runBy: "operator" } }).join(" ")).toContain(
      "keeps its last configuration",
    );
  });
});

describe("how old what is shown is", () => {
  it("is said once it was not renewed for long, or never seen", () => {
    const seenMs = Date.parse("2026-01-01T00:00:00Z");
    expect(sightNote(detail, seenMs + 2_000)).toBeNull();
    expect(sightNote(detail, null)).toBeNull();
    expect(sightNote(detail, seenMs + 60_000)).toBe("last seen 60\u00a0s ago.");
    expect(sightNote({ observedAt: null }, seenMs)).toBe("the cluster has not been reached yet.");
  });
});
