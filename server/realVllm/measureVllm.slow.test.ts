import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs, variable } from "@/scripts/needs.mjs";
import { profileForCluster, profileInUse } from "@/server/calibration/profileInUse";
import { createCardStore } from "@/server/cards/cardStore";
import { createProcessHost } from "@/server/processes/processHost";
import { killEngines, recordedEngines } from "@/server/processes/testing/recordedEngines";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import { openStore } from "@/server/store/store";
import { extrapolations } from "@/solver/calibration/extrapolations";
import { isMeasured } from "@/solver/hardware/engineProfile";
import { withProcessorCard } from "@/solver/hardware/processorCard";
import { measureVllm } from "./measureVllm";
import { vllmConnection } from "./vllmConnection";

const environment = process.env.WEIR_VLLM;

/** Ten times what a quiet computer of two cores takes. */
const limitMs = 2_400_000;

describe("the speed of vLLM on a core", needs(variable("WEIR_VLLM")), () => {
  let folder: string;
  let engines: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-vllm-speed-"));
    engines = join(folder, "engines", "cluster");
  });
  afterAll(() => {
    killEngines(engines);
    rmSync(folder, { recursive: true });
  });

  it(
    "is measured on an engine as a plan starts it, of which none is left, and is what plans for the cluster use",
    async () => {
      const prepared = await prepareRealModels(folder, ["hugging-face"]);
      if (!prepared.ok) throw new Error(prepared.message);
      const folders = { "arith-small": prepared.models[0]?.huggingFace ?? "" };
      const program = join(environment ?? "", "bin", "vllm");
      const connection = vllmConnection({ ...{ program, folders, cores: 2, node: "node1" }, ports: { from: 21_150, to: 21_190 } });
      const host = createProcessHost(connection, { folder: engines, gpuCards: () => ({}), environment: process.env });
      const cards = createCardStore(folder);
      cards.change((own) => withProcessorCard(withRealModelCards(own), totalmem()));
      const store = openStore(folder);
      const spec = { id: "c", name: "C", gpu: "cpu-core", nodes: [{ name: "node1", gpus: 2 }], usdPerGpuHour: 0 };
      store.clusters.insert({ ...spec, kind: "processes" }, new Date(0).toISOString(), { connection, gateway: null });
      const said: string[] = [];
      const parts = { ...{ store, cards, stateDir: folder, host, models: ["arith-small"] }, measures: true };
      const asked = { ...parts, signal: new AbortController().signal, say: (line: string) => said.push(line) };
      const says = await measureVllm(asked);
      console.log([...said, says].join("\n"));
      expect(says).toMatch(/^vLLM was measured in \d+ runs\. Plans use the profile "arith-small on cpu-core, measured /);
      expect(recordedEngines(engines)).toEqual([]);
      const profile = profileForCluster(store, "c");
      expect(profile).toEqual(profileInUse(store));
      if (!isMeasured(profile)) throw new Error("plans use no measurement");
      expect(profile.engines).toMatchObject([
        { engine: "vllm", model: "arith-small", gpu: "cpu-core", measuredOn: { source: expect.stringMatching(/^vllm /) } },
      ]);
      const run = { engine: "vllm", model: "arith-small", gpu: "cpu-core", precision: "bf16", kvPrecision: "bf16" } as const;
      const load = { shape: { tp: 1, pp: 1 }, inputTokens: 30, outputTokens: 8, concurrency: 4 };
      console.log(profile.errors, extrapolations({ ...run, ...load }, profile, cards.read().catalogue));
      expect(await measureVllm(asked)).toBe("vLLM was measured before.");
      store.close();
    },
    limitMs,
  );
});
