// Bundles the command line, the gateway, the emulator and the worker threads into dist/*.mjs. Packages stay in node_modules.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Bundle name -> its entry, relative to the repository. */
export const entries = {
  weir: "server/cli/weir.ts",
  studio: "server/front/main.ts",
  gateway: "server/gateway/main.ts",
  gatewayParent: "server/gateway/parent.ts",
  redactionWorker: "server/gateway/capture/redactionWorker.ts",
  predictionWorker: "server/gateway/prediction/predictionWorker.ts",
  lineWorker: "server/gateway/workflows/lineWorker.ts",
  jsonWorker: "server/gateway/http/jsonWorker.ts",
  encoderProcess: "server/encoders/encoderProcess.ts",
  emulator: "server/emulator/main.ts",
  engine: "server/llamaEngine/main.ts",
  judge: "server/confidenceJudge/main.ts",
  realModels: "server/realModels/main.ts",
  planningWorker: "server/planning/planner/worker.ts",
  calibrationWorker: "server/calibration/calibrationWorker.ts",
  capacityWorker: "server/planning/workflows/capacityWorker.ts",
  mixWorker: "server/planning/mix/mixWorker.ts",
  placeWorker: "server/planning/ensembles/placeWorker.ts",
  replayWorker: "server/planning/ensembles/replayWorker.ts",
  sampleWorker: "server/planning/ensembles/sampleWorker.ts",
  promptsWorker: "server/prompts/promptsWorker.ts",
  workloadWorker: "server/profiling/workloadWorker.ts",
  gatesWorker: "server/workloads/gatesWorker.ts",
  trainingWorker: "server/prediction/trainingWorker.ts",
  labWorker: "server/lab/labWorker.ts",
  bench: "bench/bench.ts",
  reproduce: "bench/reproduce/main.ts",
  realClient: "bench/real/realClient.ts",
  mockUpstream: "bench/gateway/mockUpstream.ts",
  bareProxy: "bench/speed/bareProxy.ts",
  loadGenerator: "bench/speed/loadGenerator.ts",
  attacker: "bench/hostile/attacker.ts",
  samplePrompts: "bench/studio/samplePrompts.ts",
  busyExpositions: "bench/studio/busyExpositions.ts",
  faultyEngine: "bench/faults/faultyEngine.ts",
  impatientGateway: "bench/faults/impatientGateway.ts",
  planSwitcher: "bench/faults/planSwitcher.ts",
  realCluster: "server/realVllm/main.ts",
  realStudio: "bench/realRollOut/studioProcess.ts",
};

/** Builds every entry that exists. */
export const bundle = () => bundleOf(entries);

/** Builds those of the given entries that exist. */
export async function bundleOf(entries) {
  const { build, stop } = await import("esbuild");
  const points = Object.entries(entries).filter(([, entry]) => existsSync(join(root, entry)));
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(points),
    outdir: "dist",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    alias: Object.fromEntries(["server", "solver", "bench", "scripts"].map((folder) => [`@/${folder}`, join(root, folder)])),
    sourcemap: true,
    logLevel: "warning",
  });
  // Otherwise its service process would live as long as a launcher that needed it only once.
  await stop();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await bundle();
