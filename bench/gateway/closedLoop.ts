import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { askChat } from "./gatewayBench";

export interface ClosedLoop {
  readonly requestsPerSecond: number;
  readonly tool: "wrk" | "undici";
}

const connections = 64;

/** Requests a second that 64 connections get answered: by wrk where it is installed, else by undici, which uses more of the machine. */
export async function closedLoop(url: string, body: string, seconds: number): Promise<ClosedLoop> {
  const byWrk = await wrk(url, body, seconds);
  return byWrk === null
    ? { requestsPerSecond: await undici(url, body, seconds), tool: "undici" }
    : { requestsPerSecond: byWrk, tool: "wrk" };
}

/** null when wrk is not installed. Throws when an answer was not 2xx. */
function wrk(url: string, body: string, seconds: number): Promise<number | null> {
  const directory = mkdtempSync(join(tmpdir(), "weir-wrk-"));
  const script = join(directory, "chat.lua");
  // Long brackets of level 2 cannot occur in JSON of the benchmark's own body.
  writeFileSync(script, `wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"\nwrk.body = [==[${body}]==]\n`);
  return new Promise<number | null>((resolve, reject) => {
    const child = spawn("wrk", [
      "-t1",
      `-c${connections}`,
      `-d${seconds}s`,
      "--timeout",
      "30s",
      "-s",
      script,
      `${url}/v1/chat/completions`,
    ]);
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once("error", () => resolve(null));
    child.once("close", () => {
      const rate = /Requests\/sec:\s+([\d.]+)/.exec(text)?.[1];
      if (rate === undefined || /Non-2xx|Socket errors/.test(text)) reject(new Error(`wrk did not measure cleanly:\n${text}`));
      else resolve(Number(rate));
    });
  }).finally(() => rmSync(directory, { recursive: true, force: true }));
}

async function undici(url: string, body: string, seconds: number): Promise<number> {
  const pool = new Pool(url, { connections });
  const startedMs = performance.now();
  let answered = 0;
  const client = async (): Promise<void> => {
    while (performance.now() - startedMs < seconds * 1000) {
      await askChat(pool, body);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  await pool.close();
  return answered / elapsedSeconds;
}
