import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@/server/testing/freePorts";
import { endChild } from "../lib/childProcess";
import type { Answering } from "./questions";

export interface JudgeProcess {
  readonly url: string;
  end(): Promise<void>;
}

const MOST_START_SECONDS = 30;

/** Starts the judge that reads the confidence which an engine has in an answer. @throws when it is not up in half a minute. */
export async function startJudge({ model, url: engine }: Answering, log: string): Promise<JudgeProcess> {
  const port = await freePort();
  const bundle = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", "judge.mjs");
  const args = ["--engine", engine, "--model", model, "--host", "127.0.0.1", "--port", String(port)];
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const output = createWriteStream(log);
  child.stdout.pipe(output);
  child.stderr.pipe(output);
  const url = `http://127.0.0.1:${port}`;
  const untilMs = performance.now() + 1000 * MOST_START_SECONDS;
  while (performance.now() < untilMs && child.exitCode === null) {
    const answer = await fetch(`${url}/health`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return { url, end: () => endChild(child) };
    await sleep(200);
  }
  await endChild(child);
  throw new Error(`The judge was not up after ${MOST_START_SECONDS} s: see ${log}.`);
}
