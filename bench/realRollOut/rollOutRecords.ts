import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { quantile } from "@/solver/numeric/quantile";
import type { Measurement } from "../lib/benchmark";
import { provenance } from "../lib/provenance";
import { resultsFolder } from "../lib/results";
import type { Asked } from "./askedQuestions";
import type { Kill } from "./moments";
import type { EngineKind } from "./realEngines";
import type { DueKill, RollOutEnd } from "./rollOutUnderKill";

/** One way there and back under load. Without `missed`: no kill was planned, or none was due before the run failed. */
export interface RollOutRecord extends Partial<RollOutEnd>, Partial<DueKill> {
  readonly engine: EngineKind;
  readonly at: string;
  /** Of Weir when it was made; every kept record has it. */
  readonly commit?: string;
  readonly kill: Kill | null;
  /** Why it did not end as planned; null: it did. */
  readonly error: string | null;
  readonly sent: number;
  /** Requests without an answer within the client's window. */
  readonly failed: number;
  /** Attempts whose connection failed or broke, and attempts answered with 429 or 5xx. */
  readonly lostAttempts: number;
  readonly refusedAttempts: number;
  readonly right: number;
  /** What one of the two models answers to that question when it is asked alone. */
  readonly modelWrong: number;
  /** Answers that neither model gives: garbled or cut. */
  readonly garbled: number;
  /** Of answered requests, from the first attempt on; null: none was answered. */
  readonly p50Seconds: number | null;
  readonly p95Seconds: number | null;
  readonly longestSeconds: number | null;
  /** What failed requests got, the first few. */
  readonly said: readonly string[];
}

const fileOf = (engine: EngineKind): string => join(resultsFolder("real"), `rollouts-${engine}.jsonl`);

/** Every run so far, those that did not end included: a bench that was stopped continues after them. */
export function rollOutRecords(engine: EngineKind): readonly RollOutRecord[] {
  const file = fileOf(engine);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return withMissed(lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line) as RollOutRecord])));
}

/** Earlier records name no point: their kill was sent this long after the check of the new engine began, whatever was under way by then. */
const blindWaitSeconds = 5;

/** Earlier records with a kill while the new engine loaded are marked as missed where a whole roll-out without kills took less time. */
export function withMissed(records: readonly RollOutRecord[]): readonly RollOutRecord[] {
  const unkilled = records.flatMap(({ kill, forwardSeconds }) => (kill === null && forwardSeconds !== undefined ? [forwardSeconds] : []));
  const isFast = unkilled.some((seconds) => seconds < blindWaitSeconds);
  return records.map((record) => {
    const isBlind = record.kill?.moment === "while the new engine loads" && record.killed != null && record.point === undefined;
    return isBlind && isFast ? { ...record, missed: true } : record;
  });
}

const sameKill = (a: Kill | null, b: Kill | null): boolean => a?.victim === b?.victim && a?.moment === b?.moment;

/** Whether a run ended, and its kill came at its moment. */
const isWhole = ({ error, missed }: RollOutRecord): boolean => error === null && missed !== true;

/** The kills without a whole run, and those whose newest whole run failed requests on an earlier commit. */
export const openKills = (records: readonly RollOutRecord[], kills: readonly (Kill | null)[], commit: string): readonly (Kill | null)[] =>
  kills.filter((kill) => {
    const newest = records.findLast((record) => isWhole(record) && sameKill(record.kill, kill));
    return newest === undefined || (newest.failed > 0 && newest.commit !== commit);
  });

/** Whether a later commit made the run again, whole. */
const isSuperseded = (record: RollOutRecord, records: readonly RollOutRecord[]): boolean =>
  records.some((one) => one.at > record.at && one.commit !== record.commit && isWhole(one) && sameKill(one.kill, record.kill));

/** Load time of the new engine in the newest run without a kill; null: none has it. */
export const measuredLoadSeconds = (records: readonly RollOutRecord[]): number | null =>
  records.findLast(({ loadSeconds }) => loadSeconds != null)?.loadSeconds ?? null;

/** All records by what was killed and when, in the order of the kills; attempts of one kill in the order of their making. */
export const byKill = (records: readonly RollOutRecord[], kills: readonly (Kill | null)[]): readonly RollOutRecord[] =>
  kills.flatMap((kill) => records.filter((record) => sameKill(record.kill, kill)));

/** Figures over all attempts but those whose failures led to a change and that were made again after it: the detail counts these apart. */
export function totalsOf(all: readonly RollOutRecord[], planned: number): Measurement {
  const mended = all.filter((record) => record.failed > 0 && isSuperseded(record, all));
  const records = all.filter((record) => !mended.includes(record));
  const sum = (count: (record: RollOutRecord) => number): number => records.reduce((total, record) => total + count(record), 0);
  const notEnded = records.filter(({ error }) => error !== null);
  const lost = notEnded.reduce((total, { failed }) => total + failed, 0);
  const missed = records.filter((record) => record.error === null && record.missed === true).length;
  const detail = [
    `${records.length - notEnded.length - missed} of ${planned} runs there and back; ${notEnded.length} attempts did not end, with ${lost} of the failed requests`,
    ...(missed === 0 ? [] : [`${missed} kills missed their moment`]),
    ...(mended.length === 0
      ? []
      : [
          `${mended.length} runs of earlier versions, made again since, failed ${mended.reduce((total, { failed }) => total + failed, 0)} requests`,
        ]),
    `${sum(({ sent }) => sent)} requests, ${sum(({ lostAttempts }) => lostAttempts)} broken connections`,
    `wrong: ${sum(({ modelWrong }) => modelWrong)} by the model, ${sum(({ garbled }) => garbled)} garbled or cut`,
  ].join("; ");
  // Without a whole run nothing was tried.
  const figure = records.length === notEnded.length + missed ? Number.NaN : sum(({ failed }) => failed);
  return { figure, unit: "requests", detail };
}

/** Keeps a record, with the commit and the machine that it was made on. */
export const keepRecord = (record: RollOutRecord): void =>
  appendFileSync(fileOf(record.engine), `${JSON.stringify({ ...provenance(), ...record })}\n`);

/** What each model answers when it is asked alone, question by question. */
export type AloneAnswers = readonly (readonly string[])[];

/** Counts of a run's requests. */
export function countedAnswers(
  asked: readonly Asked[],
  rightAnswers: readonly string[],
  alone: AloneAnswers,
): Omit<RollOutRecord, "engine" | "at" | "kill" | "error" | keyof RollOutEnd | keyof DueKill> {
  const answered = asked.filter(({ answer }) => answer !== null);
  const wrong = answered.filter(({ question, answer }) => answer !== rightAnswers[question]);
  const modelWrong = wrong.filter(({ question, answer }) => alone[question]?.includes(answer ?? "")).length;
  const seconds = answered.map((one) => one.seconds);
  const at = (share: number): number | null => (seconds.length === 0 ? null : quantile(seconds, share));
  const sum = (count: (one: Asked) => number): number => asked.reduce((total, one) => total + count(one), 0);
  return {
    sent: asked.length,
    failed: asked.length - answered.length,
    lostAttempts: sum(({ lost }) => lost),
    refusedAttempts: sum(({ refused }) => refused),
    right: answered.length - wrong.length,
    modelWrong,
    garbled: wrong.length - modelWrong,
    p50Seconds: at(0.5),
    p95Seconds: at(0.95),
    longestSeconds: at(1),
    said: asked.flatMap(({ answer, said }) => (answer === null ? [said] : [])).slice(0, 5),
  };
}

/** The table of all runs of an engine. */
export function recordsTable(records: readonly RollOutRecord[]): string {
  const head =
    "| killed | when | sent | failed | connection errors | 429 or 5xx | right | wrong by the model | garbled or cut | p50 | p95 | longest | there, back | operator | commit |";
  const rule = "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";
  const rows = records.map((one) => {
    const seconds = [one.p50Seconds, one.p95Seconds, one.longestSeconds].map((value) =>
      value === null ? "-" : `${value.toFixed(value < 10 ? 2 : 0)} s`,
    );
    const ways = one.forwardSeconds === undefined ? "-" : `${one.forwardSeconds.toFixed(0)}, ${(one.backSeconds ?? 0).toFixed(0)} s`;
    const done = one.error === null ? (one.acts ?? []).join("; ") || "nothing" : `did not end: ${one.error}`;
    const counts = [one.sent, one.failed, one.lostAttempts, one.refusedAttempts, one.right, one.modelWrong, one.garbled];
    return `| ${[killedText(one), momentText(one), ...counts, ...seconds, ways, done, one.commit ?? "-"].join(" | ")} |`;
  });
  return [head, rule, ...rows].join("\n");
}

/** Nothing is killed where the moment is missed; in earlier records it was. */
function killedText({ kill, killed, missed }: RollOutRecord): string {
  if (kill === null || (missed === true && killed == null)) return "nothing";
  return kill.victim === "engine" ? `engine \`${killed ?? ""}\`` : kill.victim;
}

function momentText({ kill, point, missed }: RollOutRecord): string {
  if (kill === null) return "-";
  if (missed !== true) return kill.moment;
  const step = point?.step == null ? "" : `, last step ${point.step} ${point.stepState}`;
  return `moment missed${step}`;
}
