import { Agent } from "undici";
import { quantile } from "@/solver/numeric/quantile";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { Emulation } from "../lib/emulation";
import { writeResults } from "../lib/results";
import { benchCascade, cascadeModel, startBenchGateway } from "./gatewayBench";

/** On one L40S they write a token in about 8, 22 and 40 ms. */
const models = ["gemma-2-2b", "llama-3.1-8b", "qwen2.5-14b"] as const;
const last = models.at(-1) ?? "";
const outputTokens = 40;
const perSecond = 6;
const samples = 40;

/** A way to request a stream, for a prompt whose answer is accepted at a stage. */
interface Arm {
  readonly finalStage: number;
  readonly how: "straight" | "its own name" | "buffer" | "last";
}

const arms: readonly Arm[] = [
  { finalStage: models.length, how: "straight" },
  { finalStage: models.length, how: "its own name" },
  ...models.flatMap((_, stage) => (["buffer", "last"] as const).map((how) => ({ finalStage: stage + 1, how }))),
];

/** Seconds. */
interface Row extends Arm {
  readonly ttft: { readonly p50: number; readonly p95: number };
  readonly endToEnd: { readonly p50: number; readonly p95: number };
}

/** The prompt `f<n>` is answered well enough from stage n on. */
const outcomes = {
  name: "streams",
  promptIds: models.map((_, stage) => `f${stage + 1}`),
  inputTokens: models.map(() => 200),
  models: models.map((model, stage) => ({
    model,
    outputTokens: models.map(() => outputTokens),
    label: models.map((_, final) => (stage >= final ? 100 : 0)),
    judged: models.map((_, final) => (stage >= final ? 80 : 20)),
  })),
};

async function measureAll(): Promise<readonly Row[]> {
  const emulation = await Emulation.start({ models, outcomes, timeScale: 1 });
  try {
    const urls = new Map<string, string>(models.map((model, index) => [model, emulation.engineUrls[index] ?? ""]));
    const engine = (model: string): string => urls.get(model) ?? "";
    const gateway = await startBenchGateway(benchCascade(models), { engines: (model) => [engine(model)], judge: emulation.judgeUrl });
    try {
      return await run(gateway.url, engine(last));
    } finally {
      await gateway.close();
    }
  } finally {
    await emulation.end();
  }
}

/** Open loop; the arms alternate, so that each has the same load. */
async function run(gatewayUrl: string, engineUrl: string): Promise<readonly Row[]> {
  const agent = new Agent();
  const measured = arms.map((arm) => ({ arm, seconds: [] as { readonly ttft: number; readonly endToEnd: number }[] }));
  const pending: Promise<unknown>[] = [];
  const total = arms.length * samples;
  const startedMs = performance.now();
  for (let index = 0; index < total; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (; index < total && startedMs + (index * 1000) / perSecond <= performance.now(); index += 1) {
      const one = measured[index % arms.length];
      if (one === undefined) continue;
      const url = one.arm.how === "straight" ? engineUrl : gatewayUrl;
      pending.push(ask(agent, url, one.arm).then((seconds) => one.seconds.push(seconds)));
    }
  }
  await Promise.all(pending);
  await agent.close();
  return measured.map(({ arm, seconds }) => {
    const at = (value: "ttft" | "endToEnd") => {
      const values = seconds.map((one) => one[value]);
      return { p50: quantile(values, 0.5), p95: quantile(values, 0.95) };
    };
    return { ...arm, ttft: at("ttft"), endToEnd: at("endToEnd") };
  });
}

/** Seconds to the first token and to the end of one stream. */
async function ask(agent: Agent, origin: string, { finalStage, how }: Arm): Promise<{ readonly ttft: number; readonly endToEnd: number }> {
  const cascade = how === "buffer" || how === "last";
  const content = `[prompt f${finalStage}] Where does the water go?`;
  const sentMs = performance.now();
  const answer = await agent.request({
    origin,
    method: "POST",
    path: "/v1/chat/completions",
    headers: { "content-type": "application/json", ...(cascade ? { "x-weir-stream": how } : {}) },
    body: JSON.stringify({ model: cascade ? cascadeModel : last, stream: true, messages: [{ role: "user", content }] }),
  });
  let text = "";
  let firstMs: number | null = null;
  for await (const chunk of answer.body) {
    text += String(chunk);
    if (/"content":"[^"]/.test(text)) firstMs ??= performance.now();
  }
  const stage = Number(answer.headers["x-weir-stage"] ?? finalStage);
  if (firstMs === null || !text.endsWith("data: [DONE]\n\n") || (cascade && stage !== finalStage)) {
    throw new Error(`A stream of stage ${finalStage}, ${how}, came back as ${answer.statusCode} of stage ${stage}: ${text.slice(-300)}`);
  }
  return { ttft: (firstMs - sentMs) / 1000, endToEnd: (performance.now() - sentMs) / 1000 };
}

function tableOf(rows: readonly Row[]): string {
  const seconds = ({ p50, p95 }: Row["ttft"]): string => `${p50.toFixed(3)} s | ${p95.toFixed(3)} s`;
  const what = ({ how, finalStage }: Row): string => {
    if (how === "straight") return `${last}, straight to its engine`;
    return how === "its own name" ? `${last} through the gateway` : `cascade, accepted at stage ${finalStage}, \`${how}\``;
  };
  const lines = rows.map((row) => `| ${what(row)} | ${seconds(row.ttft)} | ${seconds(row.endToEnd)} |`);
  return ["| stream | TTFT p50 | p95 | end to end p50 | p95 |", "|---|---|---|---|---|", ...lines].join("\n");
}

/**
 * The cost of holding streams back, with engines that write at the pace of real ones. Writes every figure to bench/results/streams.json.
 */
export const streamBenchmarks: readonly Benchmark[] = [
  {
    name: "streams of a cascade, TTFT of `last` over a direct stream of its last model",
    budget: null,
    async run(): Promise<Measurement> {
      const rows = await measureAll();
      writeResults("streams", rows);
      process.stderr.write(`\n${tableOf(rows)}\n\n`);
      const p50 = (how: Arm["how"]): number =>
        rows.find((row) => row.how === how && row.finalStage === models.length)?.ttft.p50 ?? Number.NaN;
      const detail = `accepted at the last of ${models.length} stages: ${p50("straight").toFixed(3)} s straight, ${p50("last").toFixed(3)} s with last, ${p50("buffer").toFixed(3)} s with buffer in the median; ${outputTokens} tokens an answer, a judge of 0.27 s, ${perSecond} streams/s, ${samples} each`;
      return { figure: p50("last") - p50("straight"), unit: "s", detail };
    },
  },
];
