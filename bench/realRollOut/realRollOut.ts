import { join } from "node:path";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { atMost, type Benchmark } from "../lib/benchmark";
import { provenance } from "../lib/provenance";
import { resultsFolder, writeTables } from "../lib/results";
import { AskedQuestions } from "./askedQuestions";
import { type Kill, moments, victims } from "./moments";
import { Operator } from "./operator";
import { connectionOf, type EngineKind, realModels } from "./realEngines";
import {
  type AloneAnswers,
  byKill,
  countedAnswers,
  keepRecord,
  measuredLoadSeconds,
  openKills,
  type RollOutRecord,
  recordsTable,
  rollOutRecords,
  totalsOf,
} from "./rollOutRecords";
import { type DueKill, type RollOutEnd, rollOutUnderKill } from "./rollOutUnderKill";
import { plans, Scene } from "./scene";

/** Without a kill, and each process killed at each moment. */
const everyKill: readonly (Kill | null)[] = [null, ...victims.flatMap((victim) => moments.map((moment) => ({ victim, moment })))];

const setting = (name: string, usual: number): number => Number(process.env[name] ?? usual);

export interface SeriesOptions {
  readonly engine: EngineKind;
  /** Folder with the two models in the form that the engine loads. */
  readonly models: string;
  readonly kills: readonly (Kill | null)[];
  /** Of the engine that the cascade adds, from an earlier series; null: not known until a run without a kill measures it. */
  readonly loadSeconds: number | null;
  readonly requestsPerSecond: number;
  /** A run that takes longer is given up. */
  readonly runSeconds: number;
  /** No run begins after this time. */
  readonly minutes: number;
  readonly onRecord: (record: RollOutRecord) => void;
}

const questions = arithmeticQuestions(300, 28);
const rightAnswers = questions.map(({ answer }) => answer);
const askedAtOnce = 4;

/** One roll-out there and back after the other on the same cluster; a run that fails is followed by one on a fresh cluster. */
export async function rollOutSeries(options: SeriesOptions): Promise<{ readonly missing: string } | null> {
  const { engine, kills, requestsPerSecond, runSeconds, minutes, onRecord } = options;
  const suffix = engine === "weir" ? ".gguf" : "";
  const paths = Object.fromEntries(Object.values(realModels).map((model) => [model, join(options.models, `${model}${suffix}`)]));
  const found = connectionOf(engine, paths);
  if ("missing" in found) return found;
  const endsMs = performance.now() + minutes * 60_000;
  let scene: Scene | null = null;
  let alone: AloneAnswers = [];
  let { loadSeconds } = options;
  for (const [index, kill] of kills.entries()) {
    if (performance.now() > endsMs) break;
    const signal = AbortSignal.timeout(runSeconds * 1000);
    let load: AskedQuestions | null = null;
    let error: string | null = null;
    let end: Partial<RollOutEnd> = {};
    let due: Partial<DueKill> = {};
    const onKill = (now: DueKill): void => {
      due = now;
    };
    try {
      if (scene === null) {
        scene = await Scene.start(found.connect);
        const operator = new Operator(scene, signal);
        await operator.ended(await operator.apply(plans.cascade.id));
        alone = await askedAlone(scene);
        await operator.ended(await operator.apply(plans.single.id));
      }
      load = new AskedQuestions({ gatewayUrl: scene.gatewayUrl, questions, requestsPerSecond, seed: index });
      end = await rollOutUnderKill(scene, { kill, loadSeconds, signal, onKill });
      loadSeconds = end.loadSeconds ?? loadSeconds;
    } catch (problem) {
      error = signal.aborted ? `not ended after ${runSeconds} s` : problem instanceof Error ? problem.message : String(problem);
    }
    const asked = (await load?.end()) ?? [];
    onRecord({ engine, at: new Date().toISOString(), kill, error, ...end, ...due, ...countedAnswers(asked, rightAnswers, alone) });
    if (error !== null) {
      await scene?.end(`real-rollouts-${engine}-logs`);
      scene = null;
    }
  }
  await scene?.end(null);
  return null;
}

/** What the engines of the cascade answer to each question when nothing else is asked of them. */
async function askedAlone(scene: Scene): Promise<AloneAnswers> {
  const engines = scene.engines().map(({ order, port }) => ({ model: order.model, url: `http://127.0.0.1:${port}` }));
  const answers: string[][] = questions.map(() => []);
  let next = 0;
  const ask = async (): Promise<void> => {
    for (let at = next++; at < questions.length; at = next++) {
      const messages = [{ role: "user", content: questions[at]?.text }];
      for (const { model, url } of engines) {
        const body = JSON.stringify({ model, messages, temperature: 0, max_tokens: 16 });
        const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
        const { choices } = (await answer.json()) as { choices: readonly { message: { content: string } }[] };
        answers[at]?.push(choices[0]?.message.content.trim() ?? "");
      }
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, ask));
  return answers;
}

/** The folder that `WEIR_REAL_MODELS` names, or both models made from the weights of this repository. */
async function preparedModels(): Promise<string> {
  const named = process.env.WEIR_REAL_MODELS;
  if (named !== undefined) return named;
  const folder = join(resultsFolder("tables"), "real-models");
  const prepared = await prepareRealModels(folder, ["gguf", "hugging-face"]);
  if (!prepared.ok) throw new Error(prepared.message);
  return folder;
}

const realRollOut = (engine: EngineKind): Benchmark => ({
  name: `real roll-out under kills, failed requests, ${engine}`,
  budget: atMost(0, "a kill or a change of plans cuts an answer short, or a request is refused"),
  async run() {
    const models = await preparedModels();
    const known = rollOutRecords(engine);
    const missing = await rollOutSeries({
      engine,
      models,
      kills: openKills(known, everyKill, provenance().commit),
      loadSeconds: measuredLoadSeconds(known),
      requestsPerSecond: setting("WEIR_BENCH_REAL_RATE", 5),
      runSeconds: setting("WEIR_BENCH_REAL_RUN_SECONDS", 1_500),
      minutes: setting("WEIR_BENCH_REAL_MINUTES", 180),
      onRecord(record) {
        keepRecord(record);
        process.stderr.write(`${recordsTable([record]).split("\n").at(-1)}\n`);
      },
    });
    if (missing !== null) return { figure: Number.NaN, unit: "requests", detail: `skipped: ${missing.missing}` };
    const records = byKill(rollOutRecords(engine), everyKill);
    writeTables(`real-rollouts-${engine}`, [recordsTable(records)]);
    return totalsOf(records, everyKill.length);
  },
});

/** From a single model to a cascade and back on real engines, while gateway, studio or an engine is killed. */
export const realRollOutBenchmarks: readonly Benchmark[] = (["vllm", "weir"] as const).map(realRollOut);
