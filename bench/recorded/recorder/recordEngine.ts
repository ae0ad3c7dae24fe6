import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  type RecordedExchange,
  type RecordedStart,
  recordedExchanges,
  type recordedPages,
  recordings,
} from "@/server/engines/testing/recordedEngine";
import type { Benchmark } from "../../lib/benchmark";
import { anonymiser } from "./anonymous";
import { questionsFor } from "./questions";
import { type Question, recordExchange } from "./recordExchange";
import { startVllm, type VllmStart } from "./vllmProcess";

const MODEL = "arith-small";
const CONTEXT_TOKENS = 512;
const PORT = 8177;

/** Two blocks of this engine's 128 tokens more than one request needs: requests that grow together put one another out. */
const LIMITS = ["--max-model-len", String(CONTEXT_TOKENS), "--max-num-seqs", "4", "--num-gpu-blocks-override", "6"];
/** Without compilation, which takes most of a start on a processor and changes no answer's form. */
const EAGER = ["--enforce-eager"];
const TOOLS = ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"];

/** Requests at a time for the pages under load: more than run, so that some wait. */
const BUSY_REQUESTS = 8;
const BUSY_TOKENS = 160;

/** Lines of a log that are kept, from its start and from its end. */
const LOG_LINES = { first: 25, last: 30, characters: 300 };

/**
 * Records a real engine for tests without one. Where:
 * `WEIR_VLLM`, the folder of a virtual environment with vLLM, and `WEIR_VLLM_MODEL`, a model's folder: starts it, and starts that fail; or
 * `WEIR_RECORD_URL`, the address of a vLLM that runs and serves nobody else: starts are not recorded anew.
 */
export const recordEngineBenchmarks: readonly Benchmark[] = [
  {
    name: "record engine",
    budget: null,
    async run() {
      const { WEIR_VLLM: program, WEIR_VLLM_MODEL: model, WEIR_RECORD_URL: url } = process.env;
      const places = { model: model ?? "/models/arith-small", program: program ?? "/opt/vllm" };
      const anonymous = anonymiser(places);
      if (url !== undefined) return measured(await recordAt(url.replace(/\/$/, ""), anonymous));
      if (program === undefined || model === undefined)
        return { figure: 0, unit: "exchanges", detail: "skipped: set WEIR_RECORD_URL, or WEIR_VLLM and WEIR_VLLM_MODEL" };
      const served = ["serve", model, "--served-model-name", MODEL, "--dtype", "float32", ...EAGER, ...LIMITS];
      const up = await startVllm({ program, port: PORT, name: "good", args: [...served, ...TOOLS] });
      if (!up.isUp) throw new Error(`vLLM did not start:\n${up.start.log.slice(-20).join("\n")}`);
      const failures: RecordedStart[] = [];
      let bytes: Recorded;
      try {
        bytes = await recordAt(`http://127.0.0.1:${PORT}`, anonymous);
        failures.push(await failedStart({ program, name: "port taken", args: served }, PORT));
      } finally {
        await up.end();
      }
      const small = ["--max-model-len", "512", "--num-gpu-blocks-override", "1"];
      const starts = [
        { name: "unknown flag", args: [...served, "--no-such-flag"] },
        { name: "model not found", args: ["serve", "/models/none", ...served.slice(2)] },
        { name: "no room for one request", args: [...served.slice(0, 7), ...small] },
        { name: "more memory than there is", args: served, environment: { VLLM_CPU_KVCACHE_SPACE: "4000" } },
      ];
      for (const start of starts) failures.push(await failedStart({ program, ...start }));
      write(
        "starts.json",
        JSON.stringify(
          [up.start, ...failures].map((start) => shortened(start, anonymous)),
          null,
          1,
        ),
      );
      return measured(bytes);
    },
  },
];

async function failedStart(start: Omit<VllmStart, "port">, port = PORT + 1): Promise<RecordedStart> {
  const tried = await startVllm({ ...start, port });
  await tried.end();
  if (tried.isUp) throw new Error(`A start that should fail, ${start.name}, did not.`);
  return tried.start;
}

interface Recorded {
  readonly exchanges: number;
  readonly bytes: number;
}

const measured = ({ exchanges, bytes }: Recorded) => ({
  figure: exchanges,
  unit: "exchanges",
  detail: `with pages of metrics, ${Math.round(bytes / 1000)} kB, in bench/recorded/vllm-0.32`,
});

async function recordAt(url: string, anonymous: (text: string) => string): Promise<Recorded> {
  const { data } = z
    .object({ data: z.tuple([z.object({ id: z.string(), max_model_len: z.int() })]) })
    .parse(await (await fetch(`${url}/v1/models`)).json());
  const [{ id: model, max_model_len: contextTokens }] = data;
  let pageBytes = 0;
  const page = async (name: (typeof recordedPages)[number]): Promise<void> => {
    const text = anonymous(await (await fetch(`${url}/metrics`)).text());
    pageBytes += text.length;
    write(`metrics-${name}.txt`, text);
  };
  await page("idle");
  const exchanges = await recordAll(url, questionsFor(model, contextTokens), anonymous);
  await underLoad(url, model, page);
  await page("after");
  return { exchanges: exchanges.length, bytes: jsonLines(exchanges).length + pageBytes };
}

/** Questions at a time: on a busy machine, a step of the engine costs the same for several. */
const AT_A_TIME = 4;

/**
 * Records the answers to all questions, in their order. What is recorded is on disk after each answer; with `WEIR_RECORD_RESUME` set,
 * answers to the same questions that are there already are kept.
 */
async function recordAll(
  url: string,
  questions: readonly Question[],
  anonymous: (text: string) => string,
): Promise<readonly RecordedExchange[]> {
  const kept = process.env.WEIR_RECORD_RESUME === undefined ? [] : recordedExchanges();
  const done = new Map(kept.map((exchange) => [exchange.name, exchange]));
  const exchanges = () => questions.flatMap(({ name }) => done.get(name) ?? []);
  const open = questions.filter(({ name }) => !done.has(name));
  const worker = async (): Promise<void> => {
    for (let question = open.shift(); question !== undefined; question = open.shift()) {
      done.set(question.name, anonymousExchange(await recordExchange(url, question), anonymous));
      write("exchanges.jsonl", jsonLines(exchanges()));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return exchanges();
}

/** Takes two pages while more requests than run are open. */
async function underLoad(url: string, model: string, page: (name: "busy" | "busier") => Promise<void>): Promise<void> {
  const body = (seed: number) => ({ model, prompt: `${seed}+${seed}\n`, max_tokens: BUSY_TOKENS, ignore_eos: true, temperature: 0 });
  const open = Array.from({ length: BUSY_REQUESTS }, (_, seed) =>
    recordExchange(url, { name: `load ${seed}`, path: "/v1/completions", body: body(seed) }),
  );
  await running(url, 3);
  await page("busy");
  await new Promise((resolve) => setTimeout(resolve, 300));
  await page("busier");
  await Promise.all(open);
}

/** Waits until that many requests run; not forever. */
async function running(url: string, count: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const [, value = "0"] = /^vllm:num_requests_running\{[^}]*\} (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text()) ?? [];
    if (Number(value) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The exchange without what this machine adds to it; the length of a whole body is made to fit. */
function anonymousExchange(exchange: RecordedExchange, anonymous: (text: string) => string): RecordedExchange {
  const { response } = exchange;
  const chunks = response.chunks.map(([ms, text]) => [ms, anonymous(text)] as const);
  const length = chunks.reduce((total, [, text]) => total + Buffer.byteLength(text), 0);
  const { date: _, ...kept } = response.headers;
  const headers = "content-length" in kept ? { ...kept, "content-length": String(length) } : kept;
  return { ...exchange, response: { ...response, headers, chunks } };
}

function shortened(start: RecordedStart, anonymous: (text: string) => string): RecordedStart {
  const lines = start.log.map((line) => anonymous(line).slice(0, LOG_LINES.characters));
  const { first, last } = LOG_LINES;
  const log = lines.length <= first + last ? lines : [...lines.slice(0, first), "…", ...lines.slice(-last)];
  return { ...start, args: start.args.map(anonymous), log };
}

const jsonLines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

function write(name: string, text: string): void {
  const folder = join(recordings, "vllm-0.32");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}
