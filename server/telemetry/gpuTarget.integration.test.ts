import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createGpuTarget } from "./gpuTarget";
import { createTestClock } from "./testing/testClock";

it("keeps GPUs that are no longer told of, without values and with the reason, and shows none where there is no such tool", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-gpus-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const command = join(folder, "smi");
  const write = (script: string) => writeFileSync(command, `#!/bin/sh\n${script}\n`);
  write('printf "index, utilization.gpu [%%]\\n0, 50 %%\\n"');
  chmodSync(command, 0o755);
  const clock = createTestClock(1_000_000);
  const options = { intervalMs: 1000, clock, node: () => "here", onScrape: () => undefined };
  const target = createGpuTarget({ kind: "nvidia-smi", command }, options);
  await target.poll();
  expect(target.frame()).toMatchObject({
    gpus: [{ node: "here", index: 0, utilisation: 0.5 }],
    source: { kind: "nvidia-smi", name: command, state: "fresh", failing: null },
  });

  write("echo Unable to determine the device handle; exit 15");
  clock.pass(20_000);
  await target.poll();
  expect(target.frame()).toMatchObject({
    gpus: [{ node: "here", index: 0, utilisation: null }],
    source: {
      state: "unreachable",
      reason: expect.stringContaining("Unable to determine"),
      failing: { kind: "status", sinceMs: clock.wallMs() },
    },
  });

  const missing = createGpuTarget({ kind: "nvidia-smi", command: join(folder, "none") }, options);
  await missing.poll();
  expect(missing.frame()).toEqual({ gpus: [], source: null });
  expect(missing.isDue()).toBe(false);
});
