import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { atPace } from "@/solver/calibration/enginePace";
import { spreadLengths } from "@/solver/calibration/measuredRun";
import { type EngineProfile, isMeasured } from "@/solver/hardware/engineProfile";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";
import { readProfileText } from "@/solver/hardware/readProfileText";
import { mean } from "@/solver/numeric/quantile";
import type { RealEngine } from "./realEngine";
import type { Records } from "./records";
import { runClient } from "./runClient";
import { completionBody, type Traffic } from "./traffic";

/** The core of client and measurements. */
export const CLIENT_CORE = 1;

/** An engine's profile, and how long the loop of `paceLoopSeconds` took around the sweep that it was fitted to. */
export interface FittedAtPace {
  readonly profile: EngineProfile;
  readonly paceLoopSeconds: number;
}

/**
 * The profile of an engine, fitted by `weir measure`; the one of an earlier start of the bench where there is one.
 *
 * @param cardsFile the cards of models and of the core.
 */
export async function fittedProfile(
  records: Records,
  { engine, minutes, folder, cardsFile }: Measuring & { readonly engine: RealEngine },
): Promise<FittedAtPace> {
  const key = fitKey(engine);
  const known = records.find("fit", key);
  if (known !== undefined) return { profile: readProfile(JSON.stringify(known.profile), key), paceLoopSeconds: known.paceLoopSeconds };
  const before = await paceLoopSeconds(engine, 1);
  const out = join(folder, `${key.replaceAll(" ", "-")}.json`);
  const began = performance.now();
  const asked = ["measure", "--endpoint", engine.url, "--model", engine.model, "--gpu", PROCESSOR_CARD, "--minutes", String(minutes)];
  const report = await weir([...asked, "--cards", cardsFile, "--out", out, "--json"]);
  const minutesTaken = (performance.now() - began) / 60_000;
  const around = Math.sqrt(before * (await paceLoopSeconds(engine, 2)));
  const text = readFileSync(out, "utf8");
  records.add({ kind: "fit", key, minutes: minutesTaken, report: parsed(report), profile: JSON.parse(text), paceLoopSeconds: around });
  return { profile: readProfile(text, key), paceLoopSeconds: around };
}

/** The profile that an earlier part of the bench recorded; null: none did. */
export function recordedProfile(records: Records, engine: Parameters<typeof fitKey>[0]): EngineProfile | null {
  const known = records.find("fit", fitKey(engine));
  return known === undefined ? null : readProfile(JSON.stringify(known.profile), known.key);
}

/** The record of an engine's fit: one for each model, since a plan knows no more of an engine. */
export const fitKey = ({ kind, model }: Pick<RealEngine, "kind" | "model">): string => `${kind} ${model}`;

export interface Measuring {
  readonly minutes: number;
  /** For the profile's file. */
  readonly folder: string;
  readonly cardsFile: string;
}

function readProfile(text: string, key: string): EngineProfile {
  const read = readProfileText(text, key);
  if (!read.ok) throw new Error(read.message);
  return read.profile;
}

/** Runs Weir's command line on the client's core. @throws with its last lines when it fails. */
async function weir(args: readonly string[]): Promise<string> {
  const bundle = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", "weir.mjs");
  const child = spawn("taskset", ["-c", String(CLIENT_CORE), process.execPath, bundle, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [said, complained] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    complained = (complained + chunk.toString()).slice(-2000);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`weir ${args[0]} ended with ${code}: ${complained || said.slice(-2000)}`);
  return said;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 4000);
  }
}

/** Twice the sequences that run: the engine always has work. */
const IN_FLIGHT = 64;
const SATURATION_SECONDS = 10;
const SATURATION_REPEATS = 2;
/** Seconds that finding a saturation takes, with answers that are awaited. */
export const FINDING_SATURATION = SATURATION_REPEATS * (SATURATION_SECONDS + 5);

/** Requests per second that an engine completes when it always has work; the mean of repeats. */
export async function saturationOf(records: Records, key: string, { url, model }: RealEngine, traffic: Traffic): Promise<number> {
  const known = records.find("saturation", key);
  if (known !== undefined) return known.requestsPerSecond;
  const each: number[] = [];
  for (let repeat = 0; repeat < SATURATION_REPEATS; repeat += 1) {
    const lengths = traffic.drawn(6000, 900 + repeat);
    const requests = lengths.map((one, index) => ({
      ...{ atSeconds: 0, outputTokens: one.outputTokens },
      body: completionBody(model, one, 900_000 + repeat * 10_000 + index),
    }));
    const task = {
      url,
      path: "/v1/completions",
      requests,
      warmUp: 8,
      inFlight: IN_FLIGHT,
      seconds: SATURATION_SECONDS,
      streamed: true,
    };
    const { answers } = await runClient(task, CLIENT_CORE);
    each.push(completedPerSecond(answers.map(({ sentSeconds, endSeconds }) => sentSeconds + endSeconds)));
  }
  const requestsPerSecond = each.reduce((sum, one) => sum + one, 0) / each.length;
  records.add({ kind: "saturation", key, requestsPerSecond, each });
  return requestsPerSecond;
}

/** Ends per second between the first third of a closed loop and its last request's sending. */
function completedPerSecond(ends: readonly number[]): number {
  const [from, to] = [SATURATION_SECONDS / 3, SATURATION_SECONDS];
  return ends.filter((end) => end >= from && end < to).length / (to - from);
}

/** The loop that shows how fast an engine is now: lengths and requests in flight that every sweep has close by. */
const PACE_LOOP = { inputTokens: 60, outputTokens: 20, concurrency: 4, spread: 0.5 };
const PACE_SECONDS = 4;
/** Seconds that it takes, with answers that are awaited. */
export const FINDING_PACE = PACE_SECONDS + 2;

/**
 * Mean seconds of the loop's requests. Over those around the sweep they are the engine's pace: the speed of a host changes from minute to
 * minute with what else runs on its hardware, and a prediction is of an engine at the speed that it has. The loop is compared with itself,
 * since over what the profile says it would hold the profile's error at this one load, too.
 *
 * @throws Error where no request is answered.
 */
export async function paceLoopSeconds({ url, model }: RealEngine, seed: number): Promise<number> {
  const lengths = spreadLengths(PACE_LOOP, 2000);
  const requests = Array.from(lengths.outputTokens, (outputTokens, index) => ({
    ...{ atSeconds: 0, outputTokens },
    body: completionBody(model, { inputTokens: lengths.inputTokens[index] ?? 1, outputTokens }, 7_000_000 + seed * 2000 + index),
  }));
  const loop = {
    url,
    path: "/v1/completions",
    requests,
    warmUp: 8,
    inFlight: PACE_LOOP.concurrency,
    seconds: PACE_SECONDS,
    streamed: true,
  };
  const { answers } = await runClient(loop, CLIENT_CORE);
  const seconds = answers.filter(({ status }) => status === 200).map(({ endSeconds }) => endSeconds);
  if (seconds.length === 0) throw new Error(`${model} at ${url} answered no request of the loop that shows its pace`);
  return mean(seconds);
}

/** A profile whose engines take `pace` times as long. */
export const profileAt = (profile: EngineProfile, pace: number): EngineProfile =>
  isMeasured(profile) ? { ...profile, engines: profile.engines.map((engine) => atPace(engine, pace)) } : profile;
