import { describe, expect, it } from "vitest";
import { connectionSchema as kubernetesSchema } from "@/server/kubernetes/connection";
import { connectionSchema as processSchema } from "@/server/processes/processConnection";
import { connectionSchema as raySchema } from "@/server/ray/connection";
import { engineSoftware } from "./engineSoftware";

const models = { a: { source: "/a" }, b: { source: "/b", engine: "sglang" } };
const templates = { mine: ["serve", "{source}", "{port}"] };
const processes = (engine: string) => processSchema.parse({ kind: "processes", engine, templates, models });
const row = (kind: "described" | "embedded" | "endpoints" | "processes" | "kubernetes" | "ray", connection: { kind: string } | null) => ({
  spec: { id: "c", name: "C", kind, gpu: "l40s", nodes: [{ name: "n", gpus: 1 }], usdPerGpuHour: 0 },
  connection,
});
const seen = (...types: readonly string[]) => types.map((type) => ({ model: "a", type }));

describe("the engine software of a cluster", () => {
  it("is that of the built-in command line with which a model is started on this host", () => {
    expect(engineSoftware(row("processes", processes("vllm")), [], "a")).toBe("vllm");
    expect(engineSoftware(row("processes", processes("weir")), [], "a")).toBe("weir-engine");
    expect(engineSoftware(row("processes", processes("weir")), [], "b")).toBe("sglang");
    expect(engineSoftware(row("processes", processes("vllm")), [], "c")).toBeNull();
  });

  it("is what engines of the model reported where a command line is the operator's own, unless they differ", () => {
    const mine = row("processes", processes("mine"));
    expect(engineSoftware(mine, [], "a")).toBeNull();
    expect(engineSoftware(mine, seen("vllm", "vllm"), "a")).toBe("vllm");
    expect(engineSoftware(mine, seen("vllm", "sglang"), "a")).toBeNull();
    expect(engineSoftware(mine, [{ model: "c", type: "vllm" }], "a")).toBeNull();
  });

  it("is what engines reported that their operator runs", () => {
    const endpoints = [{ name: "one", url: "http://h:8000", model: "a", gpu: "l40s", precision: "bf16" }];
    const attached = { kind: "endpoints", endpoints };
    expect(engineSoftware(row("endpoints", attached), seen("llama.cpp"), "a")).toBe("llama.cpp");
  });

  it("is as a Kubernetes connection says for the model, and vLLM for Ray's own builder", () => {
    const engine = { kind: "sglang", image: "sglang:1" };
    const pods = { a: { source: "org/a" }, b: { source: "org/b", engine: { kind: "vllm", image: "vllm:1" } } };
    const reached = { kind: "kubernetes", access: { from: "in-cluster" }, namespace: "n" };
    const kubernetes = row("kubernetes", kubernetesSchema.parse({ ...reached, engine, models: pods }));
    expect([engineSoftware(kubernetes, [], "a"), engineSoftware(kubernetes, [], "b")]).toEqual(["sglang", "vllm"]);
    const ray = { kind: "ray", dashboard: "http://r:8265", models: { a: { source: "org/a" } } };
    expect(engineSoftware(row("ray", raySchema.parse(ray)), [], "a")).toBe("vllm");
    expect(engineSoftware(row("ray", raySchema.parse({ ...ray, importPath: "mine:build" })), [], "a")).toBeNull();
  });

  it("is the emulator's on the embedded cluster, and not known of one that is only described", () => {
    expect(engineSoftware(row("embedded", null), [], "a")).toBe("weir-emulator");
    expect(engineSoftware(row("described", null), seen("vllm"), "a")).toBeNull();
  });
});
