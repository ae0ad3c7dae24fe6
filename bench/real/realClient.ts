import { readFileSync, writeFileSync } from "node:fs";
import { Pool } from "undici";
import type { ClientAnswer, ClientRequest, ClientTask } from "./clientTask";

/**
 * The client of the benchmarks on real engines, as a separate process: reads a task from the file named first, sends its requests and
 * writes the answers to the file named second. All bytes are made before the first is sent.
 */
const [taskFile = "", answersFile = ""] = process.argv.slice(2);
const task = JSON.parse(readFileSync(taskFile, "utf8")) as ClientTask;
const pool = new Pool(task.url, { connections: 1024, headersTimeout: 0, bodyTimeout: 0 });
const headers = { "content-type": "application/json" };

let startedMs = 0;
const now = (): number => (performance.now() - startedMs) / 1000;

/** Sends one request and reads its answer to the end; never rejects. */
function ask(index: number, { atSeconds, body }: ClientRequest): Promise<ClientAnswer> {
  return new Promise((resolve) => {
    const sentSeconds = now();
    let status = 0;
    let firstSeconds: number | null = null;
    let [answeredBy, decisionId]: (string | null)[] = [null, null];
    // Usage is in the last event of a stream; a kept answer needs all of them.
    const chunks: Buffer[] = [];
    const end = (): void => {
      const text = Buffer.concat(chunks).toString();
      resolve({
        ...{ index, sentSeconds, lateSeconds: task.inFlight === null ? sentSeconds - atSeconds : 0 },
        ...{ firstSeconds, endSeconds: now() - sentSeconds, status },
        outputTokens: numberIn(text, /"completion_tokens":\s*(\d+)/),
        inputTokens: numberIn(text, /"prompt_tokens":\s*(\d+)/),
        answeredBy: answeredBy ?? null,
        decisionId: decisionId ?? null,
        ...(task.keepAnswers || status !== 200 ? { text: text.slice(0, 4000) } : {}),
      });
    };
    pool.dispatch(
      { method: "POST", path: task.path, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart(_, code, own) {
          status = code;
          answeredBy = headerOf(own["x-weir-model"]);
          decisionId = headerOf(own["x-weir-decision-id"]);
        },
        onResponseData(_, chunk) {
          firstSeconds ??= now() - sentSeconds;
          if (!task.keepAnswers && chunks.length >= 2) chunks.shift();
          chunks.push(chunk);
        },
        onResponseEnd: end,
        onResponseError: end,
      },
    );
  });
}

const headerOf = (value: string | string[] | undefined): string | null => (typeof value === "string" ? value : null);

function numberIn(text: string, pattern: RegExp): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

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
