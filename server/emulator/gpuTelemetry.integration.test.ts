import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parsePromText } from "@/server/engines/promText";
import { readGpus } from "@/server/telemetry/gpuMapping";
import { freePort } from "@/server/testing/freePorts";
import { gpuCard } from "@/solver/hardware/gpus";
import { ask, TestEmulators, until } from "./testEmulators";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

describe("the emulated dcgm-exporter", () => {
  it("shows a busy GPU busy and full, and an empty one near zero", async () => {
    const { cluster, client } = await emulators.serving(4, [40, 7900]);
    const running = client.chat.completions.create(ask("long")).catch(() => undefined);
    const gpus = () => readGpus(parsePromText(cluster.gpus.text()));
    await until(async () => (gpus()[0]?.utilisation ?? 0) > 0.9);
    const [busy, idle] = gpus();
    expect(busy).toMatchObject({ node: "n1", index: 0 });
    expect((busy?.memoryUsedBytes ?? 0) / (busy?.memoryTotalBytes ?? 1)).toBeCloseTo(0.9, 2);
    expect(idle).toMatchObject({ node: "n1", index: 1, utilisation: 0, memoryUsedBytes: 0 });
    expect(busy?.memoryTotalBytes).toBeGreaterThan(0.99 * (gpuCard("l40s")?.memoryBytes ?? 0));
    await emulators.stopAll();
    await running;
  });
});
