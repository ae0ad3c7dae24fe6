import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";
import { readProfileText } from "@/solver/hardware/readProfileText";
import type { RealEngine } from "./realEngine";
import type { Records } from "./records";
import { runClient } from "./runClient";
import { completionBody, type Traffic } from "./traffic";

/** The core of client and measurements. */
export const CLIENT_CORE = 1;

/**
 * The profile of an engine, fitted by `weir measure`; the one of an earlier start of the bench where there is one.
 *
 * @param cardsFile the cards of models and of the core.
 */
export async function fittedProfile(
  records: Records,
  { engine, minutes, folder, cardsFile }: Measuring & { readonly engine: RealEngine },
): Promise<EngineProfile> {
  const key = fitKey(engine);
  const known = records.find("fit", key);
  if (known !== undefined) return readProfile(JSON.stringify(known.profile), key);
  const out = join(folder, `${key.replaceAll(" ", "-")}.json`);
  const began = performance.now();
  const asked = ["measure", "--endpoint", engine.url, "--model", engine.model, "--gpu", PROCESSOR_CARD, "--minutes", String(minutes)];
  const report = await weir([...asked, "--cards", cardsFile, "--out", out, "--json"]);
  const minutesTaken = (performance.now() - began) / 60_000;
  const text = readFileSync(out, "utf8");
  records.add({ kind: "fit", key, minutes: minutesTaken, report: parsed(report), profile: JSON.parse(text) });
  return readProfile(text, key);
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
