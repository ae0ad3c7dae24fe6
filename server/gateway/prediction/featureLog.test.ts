import { readFile, stat } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { type LearningLine, learningLineSchema, packSketch, programQuietSeconds } from "@/server/contracts/gateway/gatewayLearning";
import { trafficRows } from "@/server/prediction/trafficRows";
import { sketchOf } from "@/solver/words/sketch";
import { temporaryDirectory } from "../testing/testGateway";
import { FeatureLog } from "./featureLog";

const words = Array.from({ length: 60 }, (_, at) => `word${String.fromCharCode(97 + (at % 26), 97 + at)}`).join(" ");
const facts = {
  ...{ instructionTokens: 20, promptTokens: 80, inputTokens: 100, workflow: "self-refine", stage: "writer" },
  sketch: packSketch(sketchOf(words)),
};

async function openBook(directory: string): Promise<FeatureLog> {
  const featureLog = new FeatureLog(directory, (error) => {
    throw error;
  });
  await featureLog.load();
  onTestFinished(() => featureLog.written());
  return featureLog;
}

async function linesOf(featureLog: FeatureLog): Promise<readonly string[]> {
  const files = await Promise.all((await featureLog.files()).map((path) => readFile(path, "utf8").catch(() => "")));
  return files.flatMap((text) => text.split("\n")).filter((line) => line !== "");
}

/** Programs of three requests a minute apart, at a rate in requests per second. */
async function serve(featureLog: FeatureLog, { fromMs, seconds, rate }: { fromMs: number; seconds: number; rate: number }): Promise<void> {
  const programs = (seconds * rate) / 3;
  for (let at = 0; at < programs + 180; at += 1) {
    for (let request = 0; request < 3; request += 1) {
      const finishedAtMs = fromMs + (1000 * at * seconds) / programs;
      const program = at - Math.round(request * 20 * rate);
      if (program < 0 || program >= programs) continue;
      const line: LearningLine = {
        ...{ startedAtMs: finishedAtMs - 5000, finishedAtMs, program: `${fromMs} ${program}`, model: "large", accepted: true },
        ...{ outputTokens: 200, mostTokens: null, facts },
      };
      featureLog.note(line);
    }
    if (at % 1000 === 0) await featureLog.written();
  }
  await featureLog.written();
}

describe("the gateway's featureLog of what is to be learnt from", () => {
  it("goes back over all of twenty minutes at 120 requests a second, by a sample of whole programs, and can be learnt from", async () => {
    const featureLog = await openBook(await temporaryDirectory());
    const seconds = 1200;
    await serve(featureLog, { fromMs: 1e9, seconds, rate: 120 });
    for (const path of await featureLog.files())
      expect((await stat(path).catch(() => ({ size: 0 }))).size).toBeLessThanOrEqual(16 * 1024 * 1024);
    const lines = (await linesOf(featureLog)).map((line) => learningLineSchema.parse(JSON.parse(line)));
    expect(Math.min(...lines.slice(0, 100).map(({ finishedAtMs }) => finishedAtMs))).toBeLessThan(1e9 + 60_000);
    const share = lines.at(-1)?.share ?? 1;
    expect(share).toBeLessThan(0.5);
    const counts = new Map<string, number>();
    for (const { program } of lines) counts.set(program, (counts.get(program) ?? 0) + 1);
    expect(counts.size).toBeGreaterThan(0.8 * share * 48_000);
    expect(counts.size).toBeLessThan(1.2 * share * 48_000);
    // Programs that began in the last two minutes are still running.
    const late = new Set(lines.filter(({ finishedAtMs }) => finishedAtMs > 1e9 + 1000 * (seconds - 130)).map(({ program }) => program));
    expect([...counts].filter(([program]) => !late.has(program)).every(([, count]) => count === 3)).toBe(true);
    const { rows, heldOut } = trafficRows(await linesOf(featureLog), 1e9 + 1000 * seconds + 1000 * programQuietSeconds);
    expect(rows.prompts + heldOut.prompts).toBeGreaterThan(1000);
  });

  it("keeps to its room where lines are long and come all at once", async () => {
    const featureLog = await openBook(await temporaryDirectory());
    const long = { ...facts, sketch: "A".repeat(10_000) };
    const outcomes = new Set<string>();
    const note = (program: string, atMs: number): void => {
      const line = { startedAtMs: atMs, finishedAtMs: atMs, program, model: "large", accepted: true, outputTokens: 1, mostTokens: null };
      outcomes.add(featureLog.note({ ...line, facts: long }));
    };
    for (let at = 0; at < 6000; at += 1) {
      note(`p${at}`, 1e9 + at);
      if (at % 500 === 0) await featureLog.written();
    }
    for (let at = 0; at < 10_000; at += 1) note(`q${at}`, 1e9 + 6000);
    expect(outcomes).toEqual(new Set(["kept", "left-out", "dropped"]));
    for (const path of await featureLog.files())
      expect((await stat(path).catch(() => ({ size: 0 }))).size).toBeLessThanOrEqual(16 * 1024 * 1024);
  });

  it("takes more programs in again once traffic is slower, and goes on with its share after a restart", async () => {
    const directory = await temporaryDirectory();
    const featureLog = await openBook(directory);
    await serve(featureLog, { fromMs: 1e9, seconds: 600, rate: 120 });
    const shareOf = async (of: FeatureLog) => (JSON.parse((await linesOf(of)).at(-1) ?? "{}") as LearningLine).share ?? 1;
    const before = await shareOf(featureLog);
    expect(before).toBeLessThan(1);
    const again = await openBook(directory);
    await serve(again, { fromMs: 1e9 + 600_000, seconds: 60, rate: 3 });
    expect(await shareOf(again)).toBe(before);
    for (const hour of [1, 2, 3, 4]) await serve(again, { fromMs: 1e9 + 3600_000 * hour, seconds: 1800, rate: 0.2 });
    expect(await shareOf(again)).toBe(1);
  });
});
