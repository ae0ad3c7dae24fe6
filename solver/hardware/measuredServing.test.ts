import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createReplica } from "@/solver/engine/replica";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { gpuCards } from "./gpus";
import { atPrecision } from "./modelCard";
import { modelCards } from "./models";
import { replicaModel } from "./replicaShapes";

const FILE = "../shared/data/engines/measured_serving.csv";
const present = existsSync(FILE);
if (!present) console.log(`Skipped: measured serving runs are not at ${FILE}`);

interface Run {
  readonly tp: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly concurrency: number;
  readonly ttftSeconds: number;
  readonly tpotSeconds: number;
}

function measuredRuns({ backend, modelPath }: { backend: string; modelPath: string }): Run[] {
  const [header = [], ...rows] = readFileSync(FILE, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const field = (row: readonly string[], name: string) => row[header.indexOf(name)] ?? "";
  return rows
    .filter((row) => field(row, "backend") === backend && field(row, "model_path") === modelPath)
    .map((row) => ({
      tp: Number(field(row, "tp_size")),
      inputTokens: Number(field(row, "isl")),
      outputTokens: Number(field(row, "osl")),
      concurrency: Number(field(row, "concurrency")),
      ttftSeconds: Number(field(row, "silicon_ttft_ms")) / 1000,
      tpotSeconds: Number(field(row, "silicon_tpot_ms")) / 1000,
    }));
}

/**
 * The closed loop in which the runs were taken: 10 x concurrency prompts, `concurrency` of them in flight, lengths uniform in
 * 80 to 100 % of the nominal ones, weights and KV cache in fp8. Means over all requests.
 */
function simulate(model: string, gpu: string, run: Run) {
  const card = atPrecision(modelCards[model]!, "fp8", 1);
  const fit = replicaModel(card, gpuCards[gpu]!, { tp: run.tp, pp: 1 });
  if (!fit.fits) throw new Error(fit.reason);
  const replica = createReplica({ ...fit.replica, maxSequences: run.concurrency });
  const random = seededRandom(1);
  const length = (nominal: number) => Math.round(nominal * (0.8 + 0.2 * random.next()));
  const requests = Array.from({ length: 10 * run.concurrency }, () => ({
    inputTokens: length(run.inputTokens),
    outputTokens: length(run.outputTokens),
    start: 0,
    firstToken: 0,
    end: 0,
  }));
  let sent = 0;
  const send = (atSeconds: number) => {
    const request = requests[sent];
    if (request === undefined) return;
    request.start = atSeconds;
    replica.enqueue(sent++, { ...request, atSeconds });
  };
  for (let slot = 0; slot < run.concurrency; slot++) send(0);
  for (let now = 0; now !== Number.POSITIVE_INFINITY; now = replica.nextEventSeconds()) {
    let ended = 0;
    replica.advanceTo(now, (kind, handle, seconds) => {
      if (kind === "first-token") requests[handle]!.firstToken = seconds;
      if (kind === "finished") {
        requests[handle]!.end = seconds;
        ended++;
      }
    });
    for (; ended > 0; ended--) send(now);
  }
  return {
    ttftSeconds: mean(requests.map((request) => request.firstToken - request.start)),
    tpotSeconds: mean(requests.map((request) => (request.end - request.firstToken) / (request.outputTokens - 1))),
    endToEndSeconds: mean(requests.map((request) => request.end - request.start)),
  };
}

/** Mean absolute relative errors over runs. */
function errors(model: string, gpu: string, runs: readonly Run[]) {
  const relative = runs.map((run) => {
    const simulated = simulate(model, gpu, run);
    const measuredEndToEnd = run.ttftSeconds + run.tpotSeconds * (0.9 * run.outputTokens - 1);
    return {
      ttft: Math.abs(simulated.ttftSeconds / run.ttftSeconds - 1),
      tpot: Math.abs(simulated.tpotSeconds / run.tpotSeconds - 1),
      endToEnd: Math.abs(simulated.endToEndSeconds / measuredEndToEnd - 1),
    };
  });
  return {
    ttft: mean(relative.map((one) => one.ttft)),
    tpot: mean(relative.map((one) => one.tpot)),
    endToEnd: mean(relative.map((one) => one.endToEnd)),
  };
}

test.skipIf(!present)("on the vLLM runs it was fitted to, simulated means are as near as the provenance says", () => {
  const runs = measuredRuns({ backend: "vllm", modelPath: "meta-llama/Llama-3.1-70B" });
  expect(runs).toHaveLength(60);
  const error = errors("llama-3.1-70b", "h200-sxm", runs);
  expect(error.endToEnd).toBeLessThan(0.075);
  expect(error.tpot).toBeLessThan(0.078);
  expect(error.ttft).toBeLessThan(0.235);
});

test.skipIf(!present)("on an engine, a model and a GPU it never saw, simulated end-to-end means stay within 12 % on average", () => {
  const runs = measuredRuns({ backend: "trtllm", modelPath: "Qwen/Qwen3-32B" });
  expect(runs).toHaveLength(180);
  expect(errors("qwen3-32b", "h100-sxm", runs).endToEnd).toBeLessThan(0.12);
});
