import { createReadStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { createPromptService } from "@/server/api/profiling/promptService";
import { surveyUpload } from "@/server/api/surveyUpload";
import { openStore } from "@/server/store/store";
import { createUploads, maxPromptBytes } from "@/server/store/uploads";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";

/**
 * Uploads a file of prompts, surveys it and takes a sample of it into a store, as the studio does, in a separate process that prints
 * the resources used. Gets the file and the size of the sample as arguments.
 */
export interface Sampling {
  readonly prompts: number;
  readonly skipped: number;
  readonly firstBadLine: number;
  readonly sampled: number;
  readonly surveySeconds: number;
  readonly sampleSeconds: number;
  /** Peak of the whole process since it began, its threads included. */
  readonly peakBytes: number;
  /** The longest block of the main thread, and the share of the time that it was busy. */
  readonly longestHoldMs: number;
  readonly busyShare: number;
}

const [path = "", size = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "weir-sampling-"));
try {
  const store = openStore(folder);
  const uploads = createUploads(folder);
  const service = createPromptService({ store, uploads, gatewayOf: () => null });
  const saved = await uploads.save(createReadStream(path), "many.jsonl", maxPromptBytes);
  if (!saved.ok) throw new Error(saved.message);

  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const before = performance.eventLoopUtilization();
  const [began, { signal }] = [performance.now(), new AbortController()];
  const survey = await surveyUpload({ uploads, id: saved.id, kind: "prompts", cards: catalogueOf(noUserCards), signal });
  const surveyed = performance.now();
  const request = {
    uploadId: saved.id,
    name: "many",
    size: Number(size),
    by: ["category", "length", "time"] as const,
    draw: 1,
    retentionDays: null,
  };
  const outcome = await service.sample(request, "bench");
  const ended = performance.now();
  if (!survey.ok || !("badLines" in survey)) throw new Error("it could not be surveyed");
  if (!outcome.ok) throw new Error(outcome.message);
  // Not `maxRSS`, which includes the process it was forked from.
  const [, peakKilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  const sampling: Sampling = {
    prompts: survey.prompts,
    skipped: survey.skipped,
    firstBadLine: survey.badLines[0]?.line ?? 0,
    sampled: store.prompts.count(outcome.id),
    surveySeconds: (surveyed - began) / 1000,
    sampleSeconds: (ended - surveyed) / 1000,
    peakBytes: Number(peakKilobytes) * 1024,
    longestHoldMs: delay.max / 1e6,
    busyShare: performance.eventLoopUtilization(before).utilization,
  };
  service.close();
  store.close();
  process.stdout.write(`SAMPLED ${JSON.stringify(sampling)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
