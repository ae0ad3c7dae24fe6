import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs, variable } from "@/scripts/needs.mjs";
import { awaitEngine } from "@/server/clusters/connector/awaitEngine";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { createProcessHost, type ProcessHost } from "@/server/processes/processHost";
import { killEngines, recordedEngines } from "@/server/processes/testing/recordedEngines";
import { unwatched } from "@/server/processes/testing/testEngines";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { vllmConnection } from "./vllmConnection";

const environment = process.env.WEIR_VLLM;

/** Ten times what a quiet computer of two cores takes. */
const loadMs = 900_000;

const orderOf = (model: string): EngineOrder => ({
  ...{ id: `${model}-0`, model, precision: "bf16", gpu: "cpu-core", tp: 1, pp: 1, maxInFlight: 16 },
  placements: [{ node: "node1", gpus: [0] }],
});

describe("vLLM on a core", needs(variable("WEIR_VLLM")), () => {
  let folder: string;
  let engines: string;
  let host: ProcessHost;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "weir-vllm-"));
    // What lies beside it are the records of other clusters.
    engines = join(folder, "engines", "cluster");
    const prepared = await prepareRealModels(folder, ["hugging-face"]);
    if (!prepared.ok) throw new Error(prepared.message);
    const folders = { "arith-small": prepared.models[0]?.huggingFace ?? "", "no-weights": join(folder, "none") };
    const connection = vllmConnection({
      ...{ program: join(environment ?? "", "bin", "vllm"), folders, cores: 2, node: "node1", ports: { from: 21_100, to: 21_140 } },
    });
    host = createProcessHost(connection, { folder: engines, gpuCards: () => ({}), environment: process.env });
  });
  afterAll(() => {
    killEngines(engines);
    rmSync(folder, { recursive: true });
  });

  /** Processes whose output goes to the log of an engine. */
  const processesOf = (log: string): readonly string[] =>
    readdirSync("/proc").filter((name) => /^\d+$/.test(name) && linkOf(`/proc/${name}/fd/2`) === log);

  it(
    "says what vLLM said where there is no such model",
    async () => {
      const order = orderOf("no-weights");
      expect(await host.start(order, unwatched())).toMatchObject({ ok: true });
      const answer = await awaitEngine(host, order, { ...unwatched(), limitMs: loadMs });
      expect(answer.ok ? "" : answer.message).toMatch(/Its log says: huggingface_hub\.errors\.HFValidationError: Repo id must be/);
      expect(await host.stop(order.id, unwatched())).toMatchObject({ ok: true });
    },
    loadMs,
  );

  it(
    "loads with progress, answers, and leaves no process: stopped, or its API server killed",
    async () => {
      const order = orderOf("arith-small");
      for (const end of ["stopped", "killed"] as const) {
        const waits: string[] = [];
        expect(await host.start(order, unwatched())).toMatchObject({ ok: true });
        const [record] = recordedEngines(engines);
        if (record?.process == null) throw new Error("It has no process.");
        const options = { ...unwatched(), report: (wait: string) => waits.push(wait), limitMs: loadMs };
        expect(await awaitEngine(host, order, options)).toMatchObject({ ok: true });
        expect(waits.filter((wait) => wait.includes("Its log: ")).length).toBeGreaterThan(3);
        expect(readFileSync(record.log, "utf8")).toContain("'max_num_seqs': 16");
        expect(processesOf(record.log).length).toBeGreaterThan(1);
        if (end === "killed") process.kill(record.process.pid, "SIGKILL");
        expect(await host.stop(order.id, unwatched())).toMatchObject({ ok: true });
        expect(processesOf(record.log)).toEqual([]);
        expect(execFileSync("ps", ["-eo", "pgid="], { encoding: "utf8" }).split(/\s+/)).not.toContain(`${record.process.pid}`);
      }
    },
    3 * loadMs,
  );
});

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
