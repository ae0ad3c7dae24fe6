import { describe, expect, it } from "vitest";
import { engineSoftware } from "@/server/calibration/engineSoftware";
import { judgePrograms } from "@/server/confidenceJudge/judgePrograms";
import { commandLine } from "@/server/engines/commandLine";
import { connectionSchema } from "@/server/processes/processConnection";
import { vllmConnection } from "./vllmConnection";

const folders = { "arith-small": "/m/arith-small", "arith-large": "/m/arith-large" };
const judge = judgePrograms({
  ...{ root: "/weir", node: "/node", addonsFolder: "/addons", file: "/m/small.gguf" },
  ports: { judge: 8201, judgeEngine: 8200 },
});
const connection = vllmConnection({ program: "/v/bin/vllm", folders, cores: 2, ...judge });

describe("connection of vLLM on the cores of a host", () => {
  it("runs an engine on the core that its plan gives it, with as many requests at once as the plan has", () => {
    const template = connection.templates[connection.engine] ?? [];
    const values = { source: "/m/a", servedName: "a", host: "127.0.0.1", port: 8100, tp: 1, pp: 1, gpus: [1], sequences: 16 };
    expect(commandLine(template, { ...values, precision: "bf16", args: [] }).join(" ")).toBe(
      "taskset -c 1 /v/bin/vllm serve /m/a --served-model-name a --host 127.0.0.1 --port 8100 " +
        "--dtype float32 --max-model-len 2048 --max-num-seqs 16 --distributed-executor-backend uni",
    );
    expect(connection.environment).toMatchObject({ VLLM_ENABLE_V1_MULTIPROCESSING: { value: "0" } });
  });

  it("is an ordinary connection of processes, with cores in place of GPUs", () => {
    expect(connectionSchema.parse(JSON.parse(JSON.stringify(connection)))).toEqual(connection);
    expect(connection.gpus).toEqual({ card: "cpu-core", count: 2, processor: true });
    expect(Object.keys(connection.models)).toEqual(["arith-small", "arith-large"]);
  });

  it("says which software it starts, so that plans use measurements of vLLM and of no other engine", () => {
    const spec = { id: "c", name: "C", gpu: "cpu-core", nodes: [{ name: "n", gpus: 2 }], usdPerGpuHour: 0 };
    expect(engineSoftware({ spec: { ...spec, kind: "processes" }, connection }, [], "arith-large")).toBe("vllm");
  });

  it("has a judge beside the engines, whose ports no engine takes", () => {
    const ports = connection.beside.map(({ command }) => Number(command[command.indexOf("--port") + 1]));
    expect(connection.judge?.url).toBe(`http://127.0.0.1:${ports[1]}`);
    expect(connection.beside[1]?.command).toContain(`http://127.0.0.1:${ports[0]}`);
    for (const port of ports) expect(port).toBeGreaterThan(connection.ports.to);
  });
});
