import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { testAddonsFolder } from "@/server/addons/testing/testAddons";
import { parsePromText } from "@/server/engines/promText";
import { llamaGguf } from "@/server/realModels/llamaGguf";
import { randomDecoder } from "@/server/realModels/testing/randomDecoder";

/** The engine as the bundle that runs in production, with a model of random weights whose tokens are characters. */
export interface LlamaEngine {
  readonly url: string;
  readonly child: ChildProcess;
  /** Its output so far. */
  output(): string;
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>;
  /** The JSON of an answer with status 200. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
  ask(path: string, body: unknown): Promise<any>;
  /** The JSON of the events of a stream, with `[DONE]` as its text. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
  stream(path: string, body: unknown): Promise<readonly any[]>;
  /** The value of one of its metrics, without prefix; `labels` as in `reason="stop"`. */
  metric(name: string, labels?: string): Promise<number>;
  stop(): Promise<void>;
}

export const alias = "random-model";

const bundle = join(import.meta.dirname, "../../../dist/engine.mjs");

/** Writes a model of random weights; its path. */
function writeRandomModel(folder: string, seed = 7): string {
  const decoder = randomDecoder(seed);
  const path = join(folder, "random.gguf");
  writeFileSync(path, llamaGguf("random", { ...decoder, config: { ...decoder.config, max_position_embeddings: 1024 } }));
  return path;
}

/** Starts one on a free port. */
export function startEngineProcess(args: readonly string[]): { readonly child: ChildProcess; output(): string } {
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  // A test that ran out of time while the engine loaded has no handle to end it by.
  process.once("exit", () => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  return { child, output: () => output };
}

/** Starts an engine and waits until it is ready. @param flags further flags. */
export async function startLlamaEngine(flags: readonly string[] = []): Promise<LlamaEngine> {
  const folder = mkdtempSync(join(tmpdir(), "weir-llama-"));
  const usual = ["--model", writeRandomModel(folder), "--alias", alias, "--port", "0", "--addons", testAddonsFolder];
  const { child, output } = startEngineProcess([...usual, "--threads", "1", "--sequences", "4", "--context", "256", ...flags]);
  while (!output().includes("ready: ")) {
    if (child.exitCode !== null) throw new Error(`The engine ended: ${output()}`);
    await sleep(50);
  }
  const url = /listening on (\S+)/.exec(output())?.[1] ?? "";
  const post: LlamaEngine["post"] = (path, body, signal) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: alias, ...(body as object) }),
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    url,
    child,
    output,
    post,
    async ask(path, body) {
      const response = await post(path, body);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
      return JSON.parse(text);
    },
    async stream(path, body) {
      const response = await post(path, { ...(body as object), stream: true });
      return events(await response.text());
    },
    async metric(name, labels = "") {
      const text = await (await fetch(`${url}/metrics`)).text();
      const found = parsePromText(text).byName.get(`weir_engine_${name}`) ?? [];
      const [wanted, value] = /(.*)="(.*)"/.exec(labels)?.slice(1) ?? [];
      const sample = found.find((one) => wanted === undefined || one.labels[wanted] === value);
      if (sample === undefined) throw new Error(`There is no metric ${name} ${labels}.`);
      return sample.value;
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.kill("SIGKILL");
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Events as an independent reader of event streams sees them. */
function events(text: string): readonly unknown[] {
  const found: unknown[] = [];
  const parser = createParser({ onEvent: ({ data }) => void found.push(data === "[DONE]" ? data : JSON.parse(data)) });
  parser.feed(text);
  return found;
}
