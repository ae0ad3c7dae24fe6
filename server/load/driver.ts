import { setMaxListeners } from "node:events";
import { Pool } from "undici";
import { guardedConnector } from "@/server/contracts/engine/guardedConnector";
import type { LoadStatus } from "@/server/contracts/studio";
import { chatAnswer } from "@/solver/judging/judgeCall";
import type { OutcomeTable, RequestSample } from "@/solver/workload/workload";
import { LoadRecord } from "./loadRecord";
import { promptText } from "./promptText";

/** The real requests behind the rows of an outcome table. */
export interface LoadRequests {
  /** Fields of a row's chat request except `model`; null: its text is not kept, and filler of its length is sent. */
  body(row: number): Readonly<Record<string, unknown>> | null;
  /** Quality 0..100 of an answer to a row; null: nobody knows it. */
  qualityOf(row: number, answer: string): number | null;
}

/** What to replay, where and how fast. Seconds are engine seconds: wall seconds x `timeScale`. */
export interface LoadOptions {
  readonly id: string;
  /** The gateway's data address, e.g. `http://127.0.0.1:4610`. */
  readonly gatewayUrl: string;
  /** The virtual model, e.g. `cascade/default`. */
  readonly model: string;
  readonly timeScale: number;
  readonly workloadName: string;
  readonly requestsPerSecond: number;
  /** Arrivals after this are not sent. */
  readonly seconds: number;
  /** The row of `outcomes` for each arrival; held-out prompts, so that plans are measured on prompts they were not made from. */
  readonly sample: RequestSample;
  /** Where it carries router scores, they go along with every request as an application's router would send them. */
  readonly outcomes: OutcomeTable;
  /** Whether the models' labels say how good the answers are: true on an emulated cluster, whose answers are the table's own. */
  readonly labelled: boolean;
  /** What is sent where real engines answer; absent or null: filler of each prompt's length, which emulated engines know by its tag. */
  readonly requests?: LoadRequests | null;
  /** Requests in flight at once; arrivals above wait in the driver, which then says that it is the limit. */
  readonly maxInFlight?: number;
  /** Called for each answer whose quality is known, with the gateway's id of the decision. */
  readonly onLabel?: (decisionId: string, label: number) => void;
  /** Called about once a wall second and at the end. */
  readonly onStatus?: (status: LoadStatus) => void;
}

export interface LoadRun {
  status(): LoadStatus;
  /** Stops sending, aborts requests in flight, and resolves with the final status. */
  stop(): Promise<LoadStatus>;
  /** Resolves with the final status; never rejects. */
  readonly done: Promise<LoadStatus>;
}

const connectLimitMs = 10_000;
// Each request in flight holds a socket; common limits are 1024 to 4096 a process.
const defaultMaxInFlight = 1000;
/** How long answers are awaited after the last request, in wall seconds. */
const graceSeconds = 120;
/** Failures without a single answer after which the run ends: nothing is there to measure. */
const hopelessFailures = 50;
const statusEveryMs = 1000;
const stopped = "stopped";
/** Lateness worth a word, in wall seconds: timers are exact to about a millisecond, and a busy machine to some more. */
const notableLatenessSeconds = 0.05;

/**
 * Replays a sample through the gateway, open loop: requests leave at their arrival times whether or not earlier ones were
 * answered. Latency counts from the scheduled arrival, so a driver that lags makes figures worse, never better, and says so.
 */
export function startLoad(options: LoadOptions): LoadRun {
  const { sample, outcomes, timeScale, seconds, model, requests = null, maxInFlight = defaultMaxInFlight } = options;
  const url = new URL(options.gatewayUrl);
  const pool = new Pool(url.origin, {
    connections: maxInFlight,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: guardedConnector({ timeoutMs: connectLimitMs }),
  });
  const record = new LoadRecord();
  const labelsOf = new Map(outcomes.models.map((entry) => [entry.model, entry.label]));
  const abort = new AbortController();
  // Every request in flight listens.
  setMaxListeners(0, abort.signal);
  const startedMs = performance.now();
  let state: LoadStatus["state"] = "running";
  let endedSeconds: number | null = null;
  let error: string | null = null;
  let held = 0;

  const nowSeconds = (): number => ((performance.now() - startedMs) / 1000) * timeScale;

  const send = async (prompt: number, scheduledSeconds: number): Promise<void> => {
    const real = requests?.body(prompt) ?? null;
    const body = real ?? {
      messages: [{ role: "user", content: promptText(outcomes.promptIds[prompt] ?? "", outcomes.inputTokens[prompt] ?? 0) }],
    };
    record.sentLate(Math.max(0, nowSeconds() - scheduledSeconds));
    try {
      const answer = await pool.request({
        method: "POST",
        path: "/v1/chat/completions",
        headers: { "content-type": "application/json", ...routerHeader(outcomes, prompt) },
        body: JSON.stringify({ ...body, model }),
        signal: abort.signal,
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) {
        record.failure(`${answer.statusCode} ${errorCode(text)}`);
        return;
      }
      const answeredBy = answer.headers["x-weir-model"];
      const known = options.labelled && typeof answeredBy === "string" ? labelsOf.get(answeredBy)?.[prompt] : undefined;
      const label = real === null ? known : (qualityOf(prompt, text) ?? undefined);
      record.answered(nowSeconds() - scheduledSeconds, label);
      const decisionId = answer.headers["x-weir-decision-id"];
      if (label !== undefined && typeof decisionId === "string") options.onLabel?.(decisionId, label);
    } catch (cause) {
      // A request that the operator's stop cut is no failure of the gateway.
      if (abort.signal.reason !== stopped)
        record.failure(abort.signal.aborted ? `no answer ${graceSeconds} s after the end` : causeOf(cause));
    }
  };

  const qualityOf = (prompt: number, reply: string): number | null => {
    const answer = chatAnswer(parsed(reply));
    return answer === null ? null : (requests?.qualityOf(prompt, answer) ?? null);
  };

  const status = (): LoadStatus => ({
    state,
    id: options.id,
    workloadName: options.workloadName,
    requestsPerSecond: options.requestsPerSecond,
    seconds,
    elapsedSeconds: Math.min(endedSeconds ?? nowSeconds(), seconds),
    sent: record.sent,
    finished: record.finished,
    failed: record.failed,
    p50Seconds: record.latency(0.5),
    p95Seconds: record.latency(0.95),
    quality: record.quality,
    error,
    notes: notes(record, { timeScale, held, maxInFlight }),
  });

  const hopeless = (): boolean => record.finished === 0 && record.failed >= hopelessFailures;

  const run = async (): Promise<void> => {
    const { arrivalSeconds } = sample;
    const pending = new Set<Promise<void>>();
    for (let index = 0; index < arrivalSeconds.length && !abort.signal.aborted && !hopeless(); ) {
      const due = arrivalSeconds[index] ?? 0;
      if (due > seconds) break;
      const waitMs = ((due - nowSeconds()) / timeScale) * 1000;
      if (waitMs > 1) await sleep(waitMs, abort.signal);
      else if (pending.size >= maxInFlight) {
        held += 1;
        await Promise.race(pending);
      } else {
        const request = send(sample.prompt[index] ?? 0, due).finally(() => pending.delete(request));
        pending.add(request);
        index += 1;
      }
    }
    endedSeconds = nowSeconds();
    await Promise.race([Promise.all(pending), sleep(graceSeconds * 1000, abort.signal)]);
    abort.abort("grace over");
    await Promise.all(pending);
  };

  const ticker = setInterval(() => options.onStatus?.(status()), statusEveryMs);
  const finish = async (): Promise<LoadStatus> => {
    await run();
    clearInterval(ticker);
    await pool.destroy();
    const failed = record.finished === 0 && record.failed > 0;
    state = failed ? "failed" : "done";
    if (failed) error = `No request was answered; the commonest failure was: ${record.worstFailure?.reason}.`;
    const final = status();
    options.onStatus?.(final);
    return final;
  };
  const done = finish();
  return {
    status,
    done,
    stop() {
      abort.abort(stopped);
      return done;
    },
  };
}

/** What a router says of a prompt, as the gateway reads it; nothing where there is no router. */
function routerHeader({ models }: OutcomeTable, prompt: number): Record<string, string> {
  const scores = models.flatMap(({ model, routerScore }) => (routerScore === undefined ? [] : [`${model}=${routerScore[prompt] ?? 0}`]));
  return scores.length === 0 ? {} : { "x-weir-router-scores": scores.join(",") };
}

interface DriverLimits {
  readonly timeScale: number;
  readonly held: number;
  readonly maxInFlight: number;
}

/** What a reader must know before trusting the figures of a run. */
function notes(record: LoadRecord, { timeScale, held, maxInFlight }: DriverLimits): readonly string[] {
  const said: string[] = [];
  const late = record.lateness(0.95);
  if (held > 0) said.push(`Driver-limited: ${maxInFlight} requests were in flight at once, and arrivals above that waited in the driver.`);
  if (late > notableLatenessSeconds * timeScale) {
    said.push(
      `The driver lagged: 5 % of requests left ${late.toFixed(2)} s or more after their time. Latencies count from the time they should have left.`,
    );
  }
  const worst = record.worstFailure;
  if (worst) said.push(`${record.failed} of ${record.sent} requests failed, most often (${worst.count}): ${worst.reason}.`);
  return said;
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    signal.addEventListener("abort", wake, { once: true });
  });
}

function causeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}

/** The `code` of an OpenAI-style error body, else nothing. */
function errorCode(text: string): string {
  const body = parsed(text) as { readonly error?: { readonly code?: unknown } } | null;
  return typeof body?.error?.code === "string" ? body.error.code : "";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
