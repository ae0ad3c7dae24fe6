import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import type { LiveFrame } from "@/server/contracts/studio";
import { testEngine, testFrame, testGpu } from "../testing/testFrame";
import { GpuHeat } from "./GpuHeat";

const drawn = (change: Partial<LiveFrame>) =>
  renderToStaticMarkup(<GpuHeat frame={testFrame({ atMs: 60_000, ...change })} identities={identifyModels(["small-8b"])} />);
const source = {
  kind: "dcgm-exporter",
  name: "dcgm",
  state: "fresh",
  sinceMs: 0,
  ageSeconds: 0,
  reason: "",
  failing: null,
  events: [],
} as const;

describe("GpuHeat", () => {
  it("is one stop of the Tab key, however many GPUs there are, and names each in full", () => {
    const gpus = [0, 1, 2].map((index) => testGpu({ index, engineId: "e1" }));
    const html = drawn({ engines: [testEngine("e1")], gpus, gpuSources: [source] });
    expect(html.match(/tabindex="0"/gi)).toHaveLength(1);
    expect(html.match(/aria-label="GPU \d, NVIDIA L40S; small-8b; utilisation 50/g)).toHaveLength(3);
  });

  it("says in words that a share of any kernel says little", () => {
    expect(drawn({ gpus: [testGpu({ utilisationOf: "any kernel" })] })).toContain("it shows little");
    expect(drawn({ gpus: [testGpu()] })).not.toContain("it shows little");
  });

  it("says since when and why what tells of GPUs does not answer", () => {
    const failing = { kind: "unreachable", sinceMs: 48_000, nextTryAtMs: 61_000 } as const;
    const html = drawn({ gpus: [testGpu()], gpuSources: [{ ...source, state: "stale", reason: "connection refused", failing }] });
    expect(html).toContain("not reachable");
    expect(html).toMatch(/dcgm-exporter for 12\u00a0s: connection refused/);
  });

  it("tells that nothing tells of GPUs from an exporter that has not told yet", () => {
    expect(drawn({})).toContain("No source of GPU metrics");
    expect(drawn({ gpuSources: [source] })).toContain("No GPU has been reported yet");
  });
});
