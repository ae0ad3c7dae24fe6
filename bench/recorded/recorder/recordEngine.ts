import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { type RecordedStart, readRecording, type recordedPages, recordings } from "@/server/engines/testing/recordedEngine";
import type { Benchmark } from "../../lib/benchmark";
import { anonymiser } from "./anonymous";
import { questionsFor } from "./questions";
import { recordExchange } from "./recordExchange";
import { recordExchanges } from "./recordExchanges";
import { type RecordingFiles, recordingFiles } from "./recordingFiles";
import { recordState } from "./recordState";
import { startVllm, type VllmStart } from "./vllmProcess";

/** The recording of vLLM with every request of `questions.ts`. */
const WHOLE = "vllm-0.32";

const MODEL = "arith-small";
const CONTEXT_TOKENS = 512;
const PORT = 8177;

/** Two blocks of this engine's 128 tokens more than one request needs: requests that grow together preempt one another. */
const LIMITS = ["--max-model-len", String(CONTEXT_TOKENS), "--max-num-seqs", "4", "--num-gpu-blocks-override", "6"];
/** Without compilation, which takes most of a start on a processor and changes no answer's form. */
const EAGER = ["--enforce-eager"];
const TOOLS = ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"];

/** Requests at a time for the pages under load: more than run, so that some wait. */
const BUSY_REQUESTS = 8;
const BUSY_TOKENS = 160;

/** A recording's address, its files, and how its text is made anonymous. */
interface Recording {
  readonly url: string;
  readonly files: RecordingFiles;
  readonly anonymous: (text: string) => string;
}

interface Recorded {
  readonly exchanges: number;
  readonly bytes: number;
}

/**
 * Records a real engine for tests without one. Where:
 * `WEIR_VLLM`, the folder of a virtual environment with vLLM, and `WEIR_VLLM_MODEL`, a model's folder: starts it, and starts that fail; or
 * `WEIR_RECORD_URL`, the address on this machine of a vLLM that runs and serves nobody else: no starts are recorded; with
 * `WEIR_RECORD_STATE`, a name such as `llama.cpp/idle`: an engine of any kind in that state. `WEIR_RECORD_MODEL` and `WEIR_RECORD_ADAPTER`
 * name the models that get requests, `WEIR_RECORD_KEY` its key; with `WEIR_RECORD_BUSY` the pages are read under load.
 */
export const recordEngineBenchmarks: readonly Benchmark[] = [
  {
    name: "record engine",
    budget: null,
    async run() {
      const { WEIR_VLLM: program, WEIR_VLLM_MODEL: model, WEIR_RECORD_URL: given, WEIR_RECORD_STATE: state } = process.env;
      const anonymous = anonymiser({ model: model ?? "/models/arith-small", program: program ?? "/opt/vllm" });
      const name = given === undefined ? WHOLE : (state ?? WHOLE);
      const at = (url: string): Recording => ({ url, files: recordingFiles(join(recordings, name)), anonymous });
      if (given !== undefined) {
        const recording = at(localAddress(given));
        return measured(name, await (state === undefined ? recordVllm(recording) : recordState(recording, stateQuestions(process.env))));
      }
      if (program === undefined || model === undefined)
        return { figure: 0, unit: "exchanges", detail: "skipped: set WEIR_RECORD_URL, or WEIR_VLLM and WEIR_VLLM_MODEL" };
      const recording = at(`http://127.0.0.1:${PORT}`);
      const served = ["serve", model, "--served-model-name", MODEL, "--dtype", "float32", ...EAGER, ...LIMITS];
      const up = await startVllm({ program, port: PORT, name: "good", args: [...served, ...TOOLS] });
      if (!up.isUp) throw new Error(`vLLM did not start:\n${up.start.log.slice(-20).join("\n")}`);
      const kept: RecordedStart[] = [];
      // On disk at once: a start that should fail and does not ends the recording.
      const keep = (start: RecordedStart): void => {
        kept.push({ ...start, args: start.args.map(anonymous), log: start.log.map(anonymous) });
        recording.files.starts(kept);
      };
      let recorded: Recorded;
      try {
        keep(up.start);
        recorded = await recordVllm(recording);
      } finally {
        await up.end();
      }
      const taken = await takenPort();
      keep(await failedStart({ program, name: "port taken", args: served }, taken.port));
      taken.free();
      const small = ["--max-model-len", "512", "--num-gpu-blocks-override", "1"];
      const starts = [
        { name: "unknown flag", args: [...served, "--no-such-flag"] },
        { name: "model not found", args: ["serve", "/models/none", ...served.slice(2)] },
        { name: "no room for one request", args: [...served.slice(0, 7), ...small] },
        { name: "more memory than there is", args: served, environment: { VLLM_CPU_KVCACHE_SPACE: "4000" } },
      ];
      for (const start of starts) keep(await failedStart({ program, ...start }));
      return measured(name, recorded);
    },
  },
];

/** @throws if the address is not of this machine: recording sends load. */
function localAddress(given: string): string {
  const url = given.replace(/\/$/, "");
  if (!/^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(url)) throw new Error(`${given} is not an http:// address of this machine.`);
  return url;
}

const stateQuestions = ({ WEIR_RECORD_KEY: key, WEIR_RECORD_MODEL: model, ...others }: NodeJS.ProcessEnv) => ({
  ...(key === undefined ? {} : { key }),
  ...(model === undefined ? {} : { model }),
  ...(others.WEIR_RECORD_ADAPTER === undefined ? {} : { adapter: others.WEIR_RECORD_ADAPTER }),
  isBusy: others.WEIR_RECORD_BUSY !== undefined,
});

const measured = (name: string, { exchanges, bytes }: Recorded) => ({
  figure: exchanges,
  unit: "exchanges",
  detail: `with pages of metrics, ${Math.round(bytes / 1000)} kB, in bench/recorded/${name}`,
});

/** A port that another program than vLLM holds: two vLLMs would share it. */
async function takenPort(): Promise<{ readonly port: number; free(): void }> {
  const server = createServer((socket) => socket.destroy()).listen(PORT + 2);
  await once(server, "listening");
  return { port: PORT + 2, free: () => server.close() };
}

async function failedStart(start: Omit<VllmStart, "port">, port = PORT + 1): Promise<RecordedStart> {
  const tried = await startVllm({ ...start, port });
  await tried.end();
  if (tried.isUp) throw new Error(`A start that should fail, ${start.name}, did not.`);
  return tried.start;
}

/** With `WEIR_RECORD_RESUME` set, answers to the same questions that are on disk already are kept. */
async function recordVllm({ url, files, anonymous }: Recording): Promise<Recorded> {
  const { data } = z
    .object({ data: z.tuple([z.object({ id: z.string(), max_model_len: z.int() })]) })
    .parse(await (await fetch(`${url}/v1/models`)).json());
  const [{ id: model, max_model_len: contextTokens }] = data;
  let pageBytes = 0;
  const page = async (name: (typeof recordedPages)[number]): Promise<void> => {
    pageBytes += files.page(name, anonymous(await (await fetch(`${url}/metrics`)).text()));
  };
  await page("idle");
  const kept = process.env.WEIR_RECORD_RESUME === undefined ? [] : readRecording(WHOLE).exchanges;
  const recorded = await recordExchanges({ url, questions: questionsFor(model, contextTokens), files, anonymous, kept });
  await underLoad(url, model, page);
  await page("after");
  return { ...recorded, bytes: recorded.bytes + pageBytes };
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
