import { type ChildProcess, fork } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";
import { onTestFinished } from "vitest";

/** Stands in every text that must not be seen: in prompts, answers, messages of tools and references. */
export const marker = "quokkaberry";

/** Stands in every answer of text. */
export const said = "which an engine said";

/** A studio without its pages: receives over IPC which service to call, and reports the addresses of its requests. */
const studio = `
  import { subscribe } from "node:diagnostics_channel";
  import { surveyUpload } from "@/server/api/surveyUpload";
  import { createRuntime } from "@/server/runtime";
  import { studioSettings } from "@/server/lib/studioSettings";

  const addresses = [];
  subscribe("undici:request:create", ({ request }) => addresses.push(request.origin + request.path));
  const runtime = createRuntime(studioSettings(process.env));
  const orders = {
    addresses: () => addresses,
    metrics: async () => (await runtime.metrics()).text,
    async upload([text, name]) {
      const saved = await runtime.uploads.save((async function* () { yield Buffer.from(text); })(), name);
      if (!saved.ok) return saved;
      const cards = runtime.cards.read().catalogue;
      const survey = await surveyUpload({ uploads: runtime.uploads, id: saved.id, kind: "prompts", cards, signal: new AbortController().signal });
      return { ...survey, uploadId: saved.id };
    },
    close: () => runtime.close(),
  };
  const service = (path) => path.split(".").reduce((found, name) => found[name], runtime.services);
  process.on("message", async ({ id, path, given }) => {
    const told = { id };
    try {
      told.answer = await (orders[path] === undefined ? service(path)(...given) : orders[path](given));
    } catch (problem) {
      told.problem = String(problem?.stack ?? problem);
    }
    process.send(told);
  });
  process.send({ id: 0 });`;

/** Starts such a studio in its own process; `onOutput` gets all its output. */
export async function startPrivacyStudio(environment: NodeJS.ProcessEnv, onOutput: (text: string) => void) {
  // Among the bundles, so that packages and workers are found.
  const outfile = join(process.cwd(), "dist", `privacyStudio-${process.pid}.mjs`);
  const alias = { "@/server": join(process.cwd(), "server"), "@/solver": join(process.cwd(), "solver") };
  const stdin = { contents: studio, resolveDir: process.cwd(), loader: "ts" } as const;
  await build({ stdin, outfile, alias, bundle: true, packages: "external", platform: "node", format: "esm", logLevel: "silent" });
  const child: ChildProcess = fork(outfile, { env: environment, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => onOutput(chunk.toString()));
  const waiting = new Map<number, (told: Told) => void>();
  child.on("message", (told: Told) => waiting.get(told.id)?.(told));
  let asked = 0;
  const answerOf = (id: number): Promise<Told> => new Promise((resolve) => waiting.set(id, resolve));
  await answerOf(0);
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(outfile, { force: true });
  });
  /** What a service says, by its path as \`prompts.list\`. */
  return async function call<Answer>(path: string, ...given: readonly unknown[]): Promise<Answer> {
    asked += 1;
    const told = answerOf(asked);
    child.send({ id: asked, path, given });
    const { answer, problem } = await told;
    if (problem !== undefined) throw new Error(`${path}: ${problem}`);
    return answer as Answer;
  };
}

interface Told {
  readonly id: number;
  readonly answer?: unknown;
  readonly problem?: string;
}

/** A server on loopback that keeps what it is sent, by address and text. */
async function startReceiver(answer: (text: string, request: IncomingMessage, response: ServerResponse) => void) {
  const received: { readonly address: string; readonly text: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      received.push({ address: request.url ?? "", text });
      answer(text, request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** Takes traces. */
export const startTraceReceiver = () =>
  startReceiver((_, __, response) => response.setHeader("content-type", "application/json").end("{}"));

/**
 * Engines and judge in one, with all possible failures: the request selects one. Every error quotes the prompt, as some engines' do, and
 * every answer has the marker.
 */
export const startQuotingEngine = () =>
  startReceiver((text, request, response) => {
    const sends = (status: number, body: unknown): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.method === "GET") return sends(200, { object: "list", data: ["small", "large", "weir-judge"].map((id) => ({ id })) });
    const fault = /fault-(\w+)/.exec(text)?.[1];
    const { model, stream } = JSON.parse(text) as { readonly model: string; readonly stream?: boolean };
    const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
    const says = (message: object): void =>
      sends(200, { object: "chat.completion", model, choices: [{ index: 0, message, finish_reason: "stop" }], usage });
    if (model === "weir-judge") {
      if (fault === "judge400") return sends(400, { error: { message: `cannot judge: ${text}` } });
      if (fault === "judge500") return sends(500, { error: { message: `broke on: ${text}` } });
      return says({ role: "assistant", content: fault === "prose" ? `It says ${marker}, which is quite good.` : "80" });
    }
    if (fault === "refused") return sends(400, { error: { message: `too odd: ${text}` } });
    if (fault === "broken") return sends(500, { error: { message: `cuda error in: ${text}` } });
    if (fault === "noise") return void response.writeHead(200).end(`no JSON at all: ${text}`);
    if (fault === "cut") return void response.writeHead(200).write(text, () => response.destroy());
    if (request.url?.endsWith("/embeddings")) return sends(200, { object: "list", model, data: [{ index: 0, embedding: [1] }], usage });
    if (stream === true) {
      const event = { choices: [{ index: 0, delta: { content: `the ${marker}, ${said}` } }] };
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${JSON.stringify(event)}\n\n`);
      if (fault === "torn") return void setTimeout(() => response.destroy(), 50);
      return void response.end("data: [DONE]\n\n");
    }
    if (fault === "tool") {
      const call = { id: marker, type: "function", function: { name: "find", arguments: JSON.stringify({ q: marker }) } };
      return says({ role: "assistant", content: null, tool_calls: [call] });
    }
    return says({ role: "assistant", content: `The answer is ${marker}, ${said}.` });
  });

/** Occurrences of the marker in files of a folder and below it, by relative path; with their number. */
export function filesWith(text: string, folder: string): Readonly<Record<string, number>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const counted = files.map((entry): [string, number] => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(folder.length + 1), textOf(path).split(text).length - 1];
  });
  return Object.fromEntries(counted.filter(([, count]) => count > 0));
}

/** A file's bytes as text; empty where it is gone: files are replaced by renaming a new one, while the gateway runs. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
