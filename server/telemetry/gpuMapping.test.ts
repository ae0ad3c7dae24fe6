import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { parsePromText } from "@/server/engines/promText";
import { readGpus } from "./gpuMapping";

const SAMPLE = join(import.meta.dirname, "../../../shared/data/metrics/dcgm-exporter-l40s.prom");
const MIB = 1024 * 1024;
const gpus = (lines: readonly string[], node?: string) => readGpus(parsePromText(lines.join("\n")), node);

describe("readGpus", () => {
  it("prefers the share of time the engine was active over 'some kernel ran', and says which of the two it gives", () => {
    const labels = '{gpu="1",Hostname="n1"}';
    const [gpu] = gpus([`DCGM_FI_DEV_GPU_UTIL${labels} 100`, `DCGM_FI_PROF_GR_ENGINE_ACTIVE${labels} 0.4`]);
    expect(gpu).toMatchObject({ node: "n1", index: 1, utilisation: 0.4, utilisationOf: "graphics engine" });
    expect(gpus([`DCGM_FI_DEV_GPU_UTIL${labels} 80`])[0]).toMatchObject({ utilisation: 0.8, utilisationOf: "any kernel" });
  });

  it("adds used, free and reserved to the total, and says null where a part is missing", () => {
    const labels = '{gpu="0",Hostname="n1"}';
    const used = `DCGM_FI_DEV_FB_USED${labels} 10`;
    const [whole] = gpus([used, `DCGM_FI_DEV_FB_FREE${labels} 80`, `DCGM_FI_DEV_FB_RESERVED${labels} 5`]);
    expect(whole).toMatchObject({ memoryUsedBytes: 10 * MIB, memoryTotalBytes: 95 * MIB, utilisation: null, utilisationOf: null });
    expect(gpus([used])[0]).toMatchObject({ memoryUsedBytes: 10 * MIB, memoryTotalBytes: null, powerWatts: null });
  });

  it("keeps GPUs of the same index on two nodes apart", () => {
    const readings = gpus(['DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="a"} 10', 'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="b"} 20']);
    expect(readings.map((gpu) => [gpu.node, gpu.utilisation])).toEqual([
      ["a", 0.1],
      ["b", 0.2],
    ]);
  });

  it("tells the parts of a divided GPU apart", () => {
    const part = (id: number) => `{gpu="0",Hostname="a",GPU_I_PROFILE="1g.10gb",GPU_I_ID="${id}"}`;
    const lines = [7, 8].map((id) => `DCGM_FI_PROF_GR_ENGINE_ACTIVE${part(id)} 0.${id}`);
    expect(gpus([...lines, 'DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="a"} 300'])).toMatchObject([
      { index: 0, instance: { id: "7", profile: "1g.10gb" }, utilisation: 0.7, powerWatts: null },
      { index: 0, instance: { id: "8", profile: "1g.10gb" }, utilisation: 0.8 },
      { index: 0, instance: null, utilisation: null, powerWatts: 300 },
    ]);
  });

  it("names the containers that have a GPU, which is one GPU however many share it", () => {
    const line = (pod: string) => `DCGM_FI_DEV_GPU_TEMP{gpu="0",Hostname="a",namespace="llm",pod="${pod}",container="vllm"} 50`;
    const [gpu, ...others] = gpus([line("p1"), line("p2"), line("p1"), line("")]);
    expect(others).toEqual([]);
    expect(gpu).toMatchObject({
      temperatureCelsius: 50,
      containers: [
        { namespace: "llm", pod: "p1", container: "vllm" },
        { namespace: "llm", pod: "p2", container: "vllm" },
      ],
    });
  });

  it("keeps nothing of the text alive but what it says", () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const labels = 'Hostname="node-with-a-long-name",modelName="NVIDIA H100 80GB HBM3",GPU_I_PROFILE="1g.10gb.of.an.h100",GPU_I_ID="13"';
    const pod = 'namespace="language-models",pod="vllm-of-the-large-model-0",container="vllm-openai-server"';
    const kept: ReturnType<typeof gpus>[] = [];
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let round = 0; round < 200; round += 1)
      kept.push(gpus([`# ${String(round).repeat(50_000)}`, `DCGM_FI_DEV_GPU_UTIL{gpu="0",${labels},${pod}} 1`]));
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000);
    expect(kept.at(-1)?.[0]?.containers[0]?.pod).toBe("vllm-of-the-large-model-0");
  });

  it("takes the node it is given where no label names one, and passes over series of no GPU", () => {
    const readings = gpus(
      ['DCGM_FI_DEV_GPU_UTIL{gpu="2"} 10', 'DCGM_FI_DEV_GPU_UTIL{device="nvidia3",Hostname=""} 20', 'DCGM_FI_DEV_GPU_UTIL{nvswitch="0"} 5'],
      "node-9",
    );
    expect(readings.map(({ node, index }) => [node, index])).toEqual([
      ["node-9", 2],
      ["node-9", 3],
    ]);
  });

  it("reads an exporter's capture", needs(file(SAMPLE)), () => {
    const [gpu] = readGpus(parsePromText(readFileSync(SAMPLE, "utf8")));
    expect(gpu).toMatchObject({
      node: "gpu1-wl8sg",
      index: 0,
      name: "NVIDIA L40S",
      instance: null,
      utilisation: 0,
      utilisationOf: "graphics engine",
      memoryUsedBytes: 0,
      memoryTotalBytes: (45459 + 608) * MIB,
      powerWatts: 35.686,
      temperatureCelsius: 32,
      containers: [],
    });
  });
});
