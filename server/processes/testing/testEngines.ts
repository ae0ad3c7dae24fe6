import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { type RecordedStart, recordedVllm, recordings } from "@/server/engines/testing/recordedEngine";
import { gpuCards } from "@/solver/hardware/gpus";
import { engineRecordsIn } from "../engineRecords";
import { connectionSchema, type ProcessConnection } from "../processConnection";
import { createProcessHost, type ProcessHostParts } from "../processHost";
import { killEngines } from "./recordedEngines";

/**
 * A small OpenAI-compatible server. `--mode` says how it fails: `exit` ends with 3 at once, `later` ends with 4 after a second, `never`
 * stays unhealthy, `leak` writes its keys and ends, `stubborn` ignores SIGTERM, `parent` starts a process that outlives it, `hang` is healthy
 * and answers no request, `recorded` writes the file that its source names and ends with 1, `replay` writes the log of the recorded start
 * that `--start` names and then ends as that one did, or serves after half a second.
 */
const script = `
const { createServer } = require("node:http");
const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const [, , ...words] = process.argv;
const flag = (name) => words[words.indexOf("--" + name) + 1];
const mode = words.includes("--mode") ? flag("mode") : "serve";
const env = process.env;
console.log("engine " + process.pid + " loads " + flag("source"));
if (mode === "recorded") { console.error(readFileSync(flag("source"), "utf8")); process.exit(1); }
if (mode === "replay") {
  const starts = readFileSync(flag("source"), "utf8").split("\\n").filter(Boolean).map((line) => JSON.parse(line));
  const { log, exitCode } = starts.find(({ name }) => name === flag("start"));
  console.error(log.join("\\n"));
  if (exitCode !== null) process.exit(exitCode);
}
if (mode === "exit") { console.error("ValueError: no such weights"); process.exit(3); }
if (mode === "later") setTimeout(() => { console.error("torch.OutOfMemoryError: CUDA out of memory"); process.exit(4); }, 1000);
if (mode === "leak") {
  console.log("export HF_TOKEN=" + env.HF_TOKEN);
  console.log("using " + env.HF_TOKEN + " and " + env.FILE_KEY);
  console.log("Authorization: Bearer abcdef0123456789 and sk-live0123456789abcd and hf_ABCDEFGHIJKLMNOPQR");
  console.log('Traceback (most recent call last):\\n  File "serve.py", line 3, in main\\n    load()\\nRuntimeError: 401 for ' + env.HF_TOKEN);
  process.exit(1);
}
if (mode === "stubborn") process.on("SIGTERM", () => console.log("no"));
if (mode === "parent") spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "inherit" });
const json = (response, status, body) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const server = createServer((request, response) => {
  const { url } = request;
  request.resume();
  if (url === "/health") response.writeHead(mode === "never" ? 503 : 200).end();
  else if (url === "/v1/models") json(response, 200, { object: "list", data: [{ id: flag("name"), object: "model" }] });
  else if (url === "/metrics") response.end("vllm:num_requests_running 0\\n");
  else if (url === "/who") json(response, 200, { pid: process.pid, words, env });
  else if (url === "/v1/chat/completions" && mode === "hang") console.log("(EngineCore pid=7) INFO 11-28 14:48:26 [shm_broadcast.py:871] No block found in 60 seconds.");
  else if (url === "/v1/chat/completions") json(response, 200, {
    id: "1", object: "chat.completion", created: 1, model: flag("name"),
    choices: [{ index: 0, message: { role: "assistant", content: "I am " + process.pid }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  else json(response, 404, { error: { message: "no such path" } });
});
const listen = () => server.listen(Number(flag("port")), "127.0.0.1");
if (mode === "replay") setTimeout(listen, 500);
else listen();
`;

/** The script's own report on an engine. */
export interface Who {
  readonly pid: number;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export const whoIs = async (url: string): Promise<Who> => (await (await fetch(new URL("/who", url))).json()) as Who;

/** A log of vLLM 0.32 that failed: paths and numbers of processes changed, long lines cut. */
export const recordedLog = (name: string): string => join(import.meta.dirname, "logs", `${name}.log`);

const startsOfVllm = recordedVllm().starts;

/** How a start of vLLM 0.32 went. @throws if none of that name was recorded. */
export function recordedStart(name: string): RecordedStart {
  const found = startsOfVllm.find((start) => start.name === name);
  if (found === undefined) throw new Error(`No start called ${name} was recorded.`);
  return found;
}

/** The model under which the script replays a recorded start. */
export const replayModel = (name: string): string => `replay-${name.replaceAll(" ", "-")}`;

/** The first port of a test's own range; each file that starts engines uses another range. */
const firstPort = 20_000 + (process.pid % 200) * 100;

/** A folder with the script in it, and hosts that start it; `clear` ends everything that was started there. */
export function testEngines() {
  const home = mkdtempSync(join(tmpdir(), "weir-processes-"));
  const file = join(home, "engine.cjs");
  const folder = join(home, "engines");
  writeFileSync(file, script);
  const template = [process.execPath, file, "--source", "{source}", "--name", "{servedName}", "--port", "{port}", "--tp", "{tp}", "{args}"];

  /** Models are named after their behaviour: `stubborn` runs the script with `--mode stubborn`. */
  const connection = (change: Partial<ProcessConnection> = {}): ProcessConnection => {
    const modes = ["exit", "later", "never", "leak", "stubborn", "parent", "hang"];
    const models = Object.fromEntries(modes.map((mode) => [mode, { source: `/weights/${mode}`, args: ["--mode", mode] }]));
    const source = join(recordings, "vllm-0.32", "starts.jsonl");
    const replayed = startsOfVllm.map(({ name }) => [replayModel(name), { source, args: ["--mode", "replay", "--start", name] }]);
    return connectionSchema.parse({
      kind: "processes",
      node: "node1",
      gpus: { card: "l40s", count: 4 },
      engine: "script",
      templates: { script: template },
      models: {
        recorded: { source: recordedLog("vllm-no-weights"), args: ["--mode", "recorded"] },
        "qwen2.5-3b": { source: "Qwen/Qwen2.5-3B-Instruct" },
        "qwen2.5-7b": { source: "Qwen/Qwen2.5-7B-Instruct" },
        ...models,
        ...Object.fromEntries(replayed),
      },
      ports: { from: firstPort, to: firstPort + 99 },
      ...change,
    });
  };

  return {
    home,
    folder,
    records: engineRecordsIn(folder),
    connection,
    host: (change: Partial<ProcessConnection> = {}, parts: Partial<ProcessHostParts> = {}) =>
      createProcessHost(connection(change), {
        folder,
        gpuCards: () => gpuCards,
        environment: { PATH: process.env.PATH },
        nvidiaSmi: "nvidia-smi-of-no-host",
        limits: { settleMs: 400, graceMs: 3_000 },
        ...parts,
      }),
    clear() {
      killEngines(folder);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** An order for one GPU of node1, with the name that a plan would give it. */
export function orderOf(model: string, gpu: number): EngineOrder {
  const id = `${model}-bf16-tp1-pp1-node1-${gpu}`;
  return { id, model, precision: "bf16", gpu: "l40s", tp: 1, pp: 1, placements: [{ node: "node1", gpus: [gpu] }] };
}

/** Options of a step without an observer. */
export const unwatched = () => ({ signal: new AbortController().signal, report: () => undefined });
