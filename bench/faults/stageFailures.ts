import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmulatedOutcomes } from "@/server/contracts/engine/emulatorAdmin";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { adminHeaders, benchToken } from "../lib/adminHeaders";
import { atMost, type Benchmark } from "../lib/benchmark";
import { endChild, said, startBundle } from "../lib/childProcess";
import { Emulation } from "../lib/emulation";
import { once } from "../lib/once";
import { writeTables } from "../lib/results";
import { table } from "../lib/tables";

const models = ["gemma-2-2b", "llama-3.1-8b", "qwen2.5-14b"] as const;
/** The judge escalates every answer of a model except the last. */
const judged = [20, 30, 90];
const PER_SECOND = 20;
const DEAD_SECONDS = 5;
/** Engine seconds per wall second: answers take tenths of a second, so that the gateway is measured and not the engines. */
const TIME_SCALE = 10;
/** A request without an end after this time hangs. */
const HUNG_SECONDS = 10;
const PROMPTS = 50;

type Ending = "answered" | "refused" | "failed" | "hung";

interface Reply {
  readonly sentMs: number;
  readonly endedMs: number;
  readonly stream: boolean;
  readonly ending: Ending;
  /** Whether its headers name a stage that could not answer, or it was refused for lack of one. */
  readonly noticed: boolean;
}

interface Row {
  readonly dead: readonly string[];
  readonly judgeUp: boolean;
  readonly stream: boolean;
  readonly replies: readonly Reply[];
  /** From the kill to the first reply that shows it; null where no request needed a dead stage. */
  readonly noticeSeconds: number | null;
  /** From when all engines pass their health checks again to the last reply that shows a dead stage; 0 where there was none after that. */
  readonly recoverSeconds: number | null;
}

const outcomes = (model: string, score: number): EmulatedOutcomes["models"][number] => ({
  model,
  outputTokens: Array(PROMPTS).fill(20) as number[],
  label: Array(PROMPTS).fill(score) as number[],
  judged: Array(PROMPTS).fill(score) as number[],
});

const document: EmulatedOutcomes = {
  name: "stage failures",
  promptIds: Array.from({ length: PROMPTS }, (_, at) => `p${at}`),
  inputTokens: Array(PROMPTS).fill(50) as number[],
  models: models.map((model, stage) => outcomes(model, judged[stage] ?? 0)),
};

const policy: PolicyDocument = {
  kind: "cascade",
  stages: models.map((model) => ({ model })),
  thresholds: [50, 50],
  judge: { model: "weir-judge", secondsPerCall: 0.27, usdPerCall: 0, whenDown: "accept" },
  order: { kind: "fcfs" },
  place: { kind: "least-load" },
  approvedRanges: { thresholds: [50, 50].map(() => ({ min: 0, max: 100 })) },
};

/** A real gateway, an emulator for each engine and one for the judge, each a separate process. */
class Cascade {
  readonly #directory = mkdtempSync(join(tmpdir(), "weir-stage-failures-"));
  readonly #gateway = startBundle("gateway", {
    environment: {
      WEIR_STATE_DIR: this.#directory,
      WEIR_GATEWAY_PORT: "0",
      WEIR_GATEWAY_ADMIN_PORT: "0",
      WEIR_LOG_LEVEL: "info",
      WEIR_ADMIN_TOKEN: benchToken,
    },
  });
  readonly engines: Emulation[] = [];
  judge: Emulation | undefined;
  #url = "";

  async start(): Promise<void> {
    const options = { outcomes: document, timeScale: TIME_SCALE };
    // One after the other: ports are free only until another process takes them.
    for (const model of models) this.engines.push(await Emulation.start({ ...options, models: [model] }));
    this.judge = await Emulation.start({ ...options, models: [] });
    const [dataUrl = "", adminUrl = ""] = await said(this.#gateway, /"dataUrl":"([^"]+)","adminUrl":"([^"]+)"/);
    this.#url = dataUrl;
    const config: GatewayConfig = {
      ...{ apiVersion: "weir/v1", kind: "GatewayConfig", name: "bench", planId: "bench", policy, policyHash: policyHash(policy) },
      replicas: models.map((model, at) => {
        const url = this.engines[at]?.engineUrls[0] ?? "";
        return { id: model, model, url, state: "active" as const, maxInFlight: 64 };
      }),
      judge: { model: "weir-judge", url: this.judge.judgeUrl },
      timeScale: TIME_SCALE,
    };
    const put = await fetch(`${adminUrl}/config`, {
      method: "PUT",
      headers: { ...adminHeaders, "if-match": "none" },
      body: JSON.stringify(config),
    });
    if (put.status !== 200) throw new Error(`PUT /config: ${put.status} ${await put.text()}`);
  }

  async ask(index: number): Promise<Reply> {
    const sentMs = performance.now();
    const stream = index % 2 === 1;
    const done = (ending: Ending, noticed: boolean): Reply => ({ sentMs, endedMs: performance.now(), stream, ending, noticed });
    try {
      const answer = await fetch(`${this.#url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          ...{ model: "cascade/default", stream, max_tokens: 20 },
          messages: [{ role: "user", content: `[prompt p${index % PROMPTS}] Where does the water go?` }],
        }),
        signal: AbortSignal.timeout(HUNG_SECONDS * 1000),
      });
      const text = await answer.text();
      const whole = stream ? text.includes("data: [DONE]") : text.includes('"choices"');
      if (answer.status === 200) return done(whole ? "answered" : "failed", answer.headers.has("x-weir-skipped"));
      const refused = answer.headers.has("retry-after");
      return done(refused ? "refused" : "failed", refused);
    } catch (error) {
      return done(error instanceof DOMException && error.name === "TimeoutError" ? "hung" : "failed", false);
    }
  }

  async end(): Promise<void> {
    await Promise.all([endChild(this.#gateway), ...[...this.engines, this.judge].map((one) => one?.end())]);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const after = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

async function healthy(engine: Emulation): Promise<void> {
  const url = `${engine.engineUrls[0]}/health`;
  while (
    !(await fetch(url)
      .then(({ ok }) => ok)
      .catch(() => false))
  )
    await after(0.02);
}

/** Kills the engines of a subset under load, leaves them dead, restarts them and waits until no reply shows it any more. */
async function killed(cascade: Cascade, { dead, judgeUp }: Pick<Row, "dead" | "judgeUp">): Promise<readonly Row[]> {
  const engines = cascade.engines.filter((_, at) => dead.includes(models[at] ?? ""));
  const asked: Promise<Reply>[] = [];
  let sent = 0;
  const startedMs = performance.now();
  const load = setInterval(() => {
    for (; startedMs + (sent * 1000) / PER_SECOND <= performance.now(); sent += 1) asked.push(cascade.ask(sent));
  }, 5);
  await after(0.5);
  const killedMs = performance.now();
  await Promise.all(engines.map((engine) => engine.kill()));
  await after(DEAD_SECONDS);
  const revivedMs = performance.now();
  await Promise.all(engines.map((engine) => engine.revive()));
  await Promise.all(engines.map(healthy));
  const backMs = performance.now();
  // Two probes of the gateway are at most two seconds apart.
  await after(3);
  clearInterval(load);
  const replies = await Promise.all(asked);
  return [false, true].map((stream) => {
    const own = replies.filter((reply) => reply.stream === stream);
    const during = own.filter(({ sentMs, endedMs }) => endedMs >= killedMs && sentMs < revivedMs);
    const noticed = own.filter((reply) => reply.noticed && reply.endedMs >= killedMs);
    const first = Math.min(...noticed.map(({ endedMs }) => endedMs));
    const last = Math.max(backMs, ...noticed.map(({ sentMs }) => sentMs));
    return {
      ...{ dead, judgeUp, stream, replies: during },
      noticeSeconds: noticed.length === 0 ? null : (first - killedMs) / 1000,
      recoverSeconds: noticed.length === 0 ? null : (last - backMs) / 1000,
    };
  });
}

const count = ({ replies }: Row, ending: Ending): number => replies.filter((reply) => reply.ending === ending).length;
const seconds = (value: number | null): string => (value === null ? "not needed" : value.toFixed(2));

function tableOf(rows: readonly Row[]): string {
  const endings = ["answered", "refused", "failed", "hung"] as const;
  const lines = rows.map((row) => {
    const longest = Math.max(0, ...row.replies.map(({ sentMs, endedMs }) => (endedMs - sentMs) / 1000));
    return [
      row.dead.map((model) => models.indexOf(model as (typeof models)[number]) + 1).join(", "),
      ...[row.stream ? "stream" : "plain", row.judgeUp ? "up" : "down", String(row.replies.length)],
      ...endings.map((ending) => String(count(row, ending))),
      ...[longest.toFixed(2), seconds(row.noticeSeconds), seconds(row.recoverSeconds)],
    ];
  });
  return table(["dead stages", "request", "judge", "requests", ...endings, "longest, s", "noticed, s", "recovered, s"], lines);
}

const subsets = Array.from({ length: 2 ** models.length - 1 }, (_, bits) => models.filter((_, stage) => (bits + 1) & (1 << stage)));

/** Three figures of one run, which takes minutes. */
const measureOnce = once(async (): Promise<readonly Row[]> => {
  const cascade = new Cascade();
  const rows: Row[] = [];
  try {
    await cascade.start();
    for (const judgeUp of [true, false]) {
      if (!judgeUp) await cascade.judge?.kill();
      for (const dead of subsets) rows.push(...(await killed(cascade, { dead, judgeUp })));
    }
  } finally {
    await cascade.end();
  }
  rows.sort((a, b) => Number(b.judgeUp) - Number(a.judgeUp) || Number(a.stream) - Number(b.stream));
  writeTables("stage-failures", [tableOf(rows)]);
  return rows;
});

const ended = (rows: readonly Row[], ending: Ending): number => rows.reduce((sum, row) => sum + count(row, ending), 0);
const sent = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + row.replies.length, 0);
const withStageLeft = (rows: readonly Row[]): readonly Row[] => rows.filter(({ dead }) => dead.length < models.length);

const hung: Benchmark = {
  name: "stages killed under load, requests that hang",
  budget: atMost(0, "a request waits for a dead stage or a dead judge beyond its time limit"),
  async run() {
    const rows = await measureOnce();
    const slowest = Math.max(...rows.map(({ noticeSeconds }) => noticeSeconds ?? 0));
    const back = Math.max(...rows.map(({ recoverSeconds }) => recoverSeconds ?? 0));
    return {
      figure: ended(rows, "hung"),
      unit: "requests",
      detail: [
        `every subset of the engines of a cascade of three killed for ${DEAD_SECONDS} s under ${PER_SECOND} requests/s, with the judge up and down`,
        `${ended(rows, "answered")} answered, ${ended(rows, "refused")} refused`,
        `noticed within ${slowest.toFixed(2)} s, recovered within ${back.toFixed(2)} s`,
      ].join("; "),
    };
  },
};

const failed: Benchmark = {
  name: "stages killed under load, requests that fail",
  budget: atMost(0, "an answer is cut short, or is refused without a time to come again"),
  async run() {
    const rows = await measureOnce();
    return {
      figure: ended(rows, "failed"),
      unit: "requests",
      detail: `of ${sent(rows)}: cut short, or refused without a time to come again`,
    };
  },
};

const unanswered: Benchmark = {
  name: "stages killed under load, requests not answered while a stage was left",
  budget: atMost(0, "a request is refused although a stage that lives could have answered it"),
  async run() {
    const rows = withStageLeft(await measureOnce());
    return { figure: sent(rows) - ended(rows, "answered"), unit: "requests", detail: `of ${sent(rows)}` };
  },
};

/** A cascade whose engines die. */
export const stageFailureBenchmarks: readonly Benchmark[] = [hung, failed, unanswered];
