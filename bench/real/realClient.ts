import { setMaxListeners } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "undici";
import { streamAnswer } from "@/server/measuring/streamAnswer";
import type { ClientAnswer, ClientRequest, ClientTask } from "./clientTask";

/**
 * The client of the benchmarks on real engines, as a separate process: reads a task from the file named first, sends its requests and
 * writes the answers to the file named second. All bytes are made before the first is sent.
 */
const [taskFile = "", answersFile = ""] = process.argv.slice(2);
const task = JSON.parse(readFileSync(taskFile, "utf8")) as ClientTask;
const agent = new Agent({ connections: 1024, headersTimeout: 0, bodyTimeout: 0 });
const url = task.url + task.path;
const neverAborted = new AbortController().signal;
// Every request in flight listens to it.
setMaxListeners(0, neverAborted);

let startedMs = 0;
const now = (): number => (performance.now() - startedMs) / 1000;

/** Sends one request and reads its answer to the end; never rejects. */
async function ask(index: number, { atSeconds, body }: ClientRequest): Promise<ClientAnswer> {
  const sentSeconds = now();
  const lateSeconds = task.inFlight === null ? sentSeconds - atSeconds : 0;
  const answer = await (task.streamed ? streamed(body) : whole(body));
  return { index, sentSeconds, lateSeconds, ...answer };
}

type Answer = Omit<ClientAnswer, "index" | "sentSeconds" | "lateSeconds">;

/** A stream, timed as `weir measure` times it: the same moment counts as the first token in fits and runs. */
async function streamed(body: string): Promise<Answer> {
  const sentMs = performance.now();
  const answer = await streamAnswer({ url, body, agent, signal: neverAborted });
  if (answer.kind !== "answered") return { ...failed(sentMs), ...(answer.kind === "failed" && { text: answer.message }) };
  const since = (ms: number): number => (ms - answer.sentMs) / 1000;
  const { firstMs, lastMs, inputTokens, outputTokens } = answer;
  return { firstSeconds: since(firstMs), endSeconds: since(lastMs), status: 200, inputTokens, outputTokens, answeredBy: null };
}

async function whole(body: string): Promise<Answer> {
  const sentMs = performance.now();
  try {
    const headers = { "content-type": "application/json" };
    const { statusCode, headers: own, body: read } = await request(url, { dispatcher: agent, method: "POST", headers, body });
    const text = await read.text();
    const answeredBy = own["x-weir-model"];
    return {
      ...{ ...failed(sentMs), status: statusCode, text: text.slice(0, MOST_TEXT) },
      answeredBy: typeof answeredBy === "string" ? answeredBy : null,
    };
  } catch {
    return failed(sentMs);
  }
}

const MOST_TEXT = 4000;

const failed = (sentMs: number): Answer => ({
  ...{ firstSeconds: null, endSeconds: (performance.now() - sentMs) / 1000, status: 0 },
  ...{ inputTokens: null, outputTokens: null, answeredBy: null },
});

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function openLoop(): Promise<readonly ClientAnswer[]> {
  const pending: Promise<ClientAnswer>[] = [];
  for (const [index, request] of task.requests.entries()) {
    if (request.atSeconds > task.seconds) break;
    for (let left = request.atSeconds - now(); left > 0; left = request.atSeconds - now()) await sleep(Math.floor(left * 1000));
    pending.push(ask(index, request));
  }
  return settled(pending);
}

async function closedLoop(inFlight: number): Promise<readonly ClientAnswer[]> {
  const answers: ClientAnswer[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next++; index < task.requests.length && now() < task.seconds; index = next++) {
      const request = task.requests[index];
      if (request !== undefined) answers.push(await ask(index, request));
    }
  };
  await Promise.race([Promise.all(Array.from({ length: inFlight }, client)), sleep(2000 * task.seconds)]);
  return answers;
}

/** The answers that come within the run's length after it; what is still open then counts as not answered. */
async function settled(pending: readonly Promise<ClientAnswer>[]): Promise<readonly ClientAnswer[]> {
  const answers: ClientAnswer[] = [];
  const all = Promise.all(pending.map((one) => one.then((answer) => answers.push(answer))));
  await Promise.race([all, sleep(1000 * Math.max(30, task.seconds))]);
  return answers;
}

const WARM_UP_SECONDS = 30;
await Promise.race([
  Promise.all(task.requests.slice(0, task.warmUp).map((request, index) => ask(index, request))),
  sleep(1000 * WARM_UP_SECONDS),
]);
startedMs = performance.now();
const answers = await (task.inFlight === null ? openLoop() : closedLoop(task.inFlight));
writeFileSync(answersFile, JSON.stringify(answers));
// Requests without an answer keep sockets open.
process.exit(0);
