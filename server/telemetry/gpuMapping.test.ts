import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePromText } from "@/server/engines/promText";
import { readGpus } from "./gpuMapping";

const SAMPLE = join(import.meta.dirname, "../../../shared/data/metrics/dcgm-exporter-l40s.prom");
const MIB = 1024 * 1024;
const gpus = (lines: readonly string[]) => readGpus(parsePromText(lines.join("\n")));

describe("readGpus", () => {
  it("prefers the share of time the engine was active over 'some kernel ran'", () => {
    const labels = '{gpu="1",Hostname="n1"}';
    const [gpu] = gpus([`DCGM_FI_DEV_GPU_UTIL${labels} 100`, `DCGM_FI_PROF_GR_ENGINE_ACTIVE${labels} 0.4`]);
    expect(gpu).toMatchObject({ node: "n1", index: 1, utilisation: 0.4 });
    expect(gpus([`DCGM_FI_DEV_GPU_UTIL${labels} 80`])[0]?.utilisation).toBe(0.8);
  });

  it("adds used, free and reserved to the total, and says null where a part is missing", () => {
    const labels = '{gpu="0",Hostname="n1"}';
    const used = `DCGM_FI_DEV_FB_USED${labels} 10`;
    const [whole] = gpus([used, `DCGM_FI_DEV_FB_FREE${labels} 80`, `DCGM_FI_DEV_FB_RESERVED${labels} 5`]);
    expect(whole).toMatchObject({ memoryUsedBytes: 10 * MIB, memoryTotalBytes: 95 * MIB, utilisation: null });
    expect(gpus([used])[0]).toMatchObject({ memoryUsedBytes: 10 * MIB, memoryTotalBytes: null });
  });

  it("keeps GPUs of the same index on two nodes apart", () => {
    const readings = gpus(['DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="a"} 10', 'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="b"} 20']);
    expect(readings.map((gpu) => [gpu.node, gpu.utilisation])).toEqual([
      ["a", 0.1],
      ["b", 0.2],
    ]);
  });

  it.skipIf(!existsSync(SAMPLE))("reads an exporter's capture (skipped where ../shared/data/metrics is missing)", () => {
    const [gpu] = readGpus(parsePromText(readFileSync(SAMPLE, "utf8")));
    expect(gpu).toMatchObject({ index: 0, utilisation: 0, memoryUsedBytes: 0, memoryTotalBytes: (45459 + 608) * MIB });
  });
});
