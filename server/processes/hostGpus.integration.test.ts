import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { planMismatch } from "@/server/clusters/apply/planMismatch";
import { planOnGpus } from "@/server/clusters/testing/testCluster";
import { gpuCards } from "@/solver/hardware/gpus";
import { createHostGpus, type HostGpuOptions } from "./hostGpus";
import { orderOf, testEngines, unwatched } from "./testing/testEngines";
import { observed } from "./testing/testLooks";

const folder = mkdtempSync(join(tmpdir(), "weir-gpus-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Installs a program in place of nvidia-smi that reports these GPUs and the processes on them. */
function nvidiaSmi(name: string, gpus: readonly string[], apps: readonly string[]): string {
  const table = gpus.map((gpu, index) => `${index}, ${gpu}, 0 %, 0 MiB, 46068 MiB, 30 W, 30`);
  const lines = (rows: readonly string[]) => `printf '${rows.map((row) => `${row.replaceAll("%", "%%")}\\n`).join("")}'`;
  const script = `#!/bin/sh
case "$1" in
  --query-gpu=uuid,index) ${lines(gpus.map((_, index) => `GPU-${index}, ${index}`))} ;;
  --query-gpu=*) ${lines(["index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], temperature.gpu", ...table])} ;;
  --query-compute-apps=gpu_uuid,pid,process_name) ${apps[0] === "fail" ? "echo 'Unable to determine the device handle'; exit 15" : lines(apps)} ;;
esac
`;
  const path = join(folder, name);
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

const read = (command: string, given?: HostGpuOptions["given"]) =>
  createHostGpus({ command, node: "here", cards: () => gpuCards, given })();
const l40s = ["NVIDIA L40S", "NVIDIA L40S"];

describe("GPUs of this host", () => {
  it("are what nvidia-smi tells, with what computes on them", async () => {
    const command = nvidiaSmi("two", l40s, ["GPU-1, 4242, /usr/bin/python3", "GPU-9, 1, gone"]);
    expect(await read(command, { card: "h100-sxm", count: 8 })).toEqual({
      ok: true,
      value: { card: "l40s", count: 2, uses: [{ gpu: 1, pid: 4242, program: "/usr/bin/python3" }] },
    });
  });

  it("are what the connection says where there is no nvidia-smi, and of its card where their name is not known", async () => {
    const given = { card: "l4", count: 3 };
    expect(await read(join(folder, "nowhere"), given)).toEqual({ ok: true, value: { ...given, uses: [] } });
    expect(await read(nvidiaSmi("odd", ["Quadro K2000"], []), given)).toMatchObject({ value: { card: "l4", count: 1 } });
  });

  it("are refused in a sentence where nobody tells what they are", async () => {
    expect(await read(join(folder, "nowhere"))).toMatchObject({
      message: expect.stringMatching(/^nvidia-smi was not found .* does not say/),
    });
    expect(await read(nvidiaSmi("unknown", ["Quadro K2000"], []))).toMatchObject({
      message: 'No card of Weir\'s is for "Quadro K2000": name one in the connection.',
    });
    expect(await read(nvidiaSmi("mixed", ["NVIDIA L40S", "NVIDIA L4"], []))).toMatchObject({
      message: "This host has GPUs of several types (NVIDIA L40S, NVIDIA L4); engines need one.",
    });
  });

  it("are not taken as free where nvidia-smi cannot tell who uses them", async () => {
    const command = nvidiaSmi("failing", l40s, ["fail"]);
    expect(await read(command)).toEqual({
      ok: false,
      message: `${command} cannot tell what uses the GPUs: Unable to determine the device handle.`,
    });
  });

  it("that others use are counted, a plan for one is refused naming who does, and no engine is started on it", async () => {
    const engines = testEngines();
    try {
      const command = nvidiaSmi("used", l40s, ["GPU-0, 77, ours", "GPU-1, 4242, python3", "GPU-1, 4243, python3"]);
      const quiet = nvidiaSmi("quiet", l40s, []);
      expect(await engines.host({}, { nvidiaSmi: quiet }).start(orderOf("qwen2.5-3b", 0), unwatched())).toMatchObject({ ok: true });
      const host = engines.host({}, { nvidiaSmi: command });
      expect(await host.observe({})).toMatchObject({ value: { gpu: "l40s", nodes: [{ name: "node1", gpus: 2, othersGpus: 1 }] } });
      const plan = planOnGpus("p", { "qwen2.5-3b": [0, 1] });
      expect(planMismatch(await observed(host), plan)).toBe(
        "The plan places qwen2.5-3b on GPU 1 of node1, which is in use by process 4242 (python3), which Weir did not start.",
      );
      expect(planMismatch(await observed(host), planOnGpus("p", { "qwen2.5-3b": [0] }))).toBeNull();
      expect(await host.start(orderOf("qwen2.5-3b", 1), unwatched())).toEqual({
        ok: false,
        message: "GPU 1 of node1 is in use by process 4242 (python3), which Weir did not start.",
      });
    } finally {
      engines.clear();
    }
  });
});
