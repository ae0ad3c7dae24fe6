import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { PromParser, type PromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { mutated } from "@/server/engines/testing/testMutations";
import { seededRandom } from "@/solver/numeric/random";
import { atLeast, atMost, type Benchmark, type Measurement } from "../lib/benchmark";

const samplesFolder = join(process.env.WEIR_ROOT ?? process.cwd(), "..", "shared", "data", "metrics");
const measuredBytes = 8_000_000;
const rounds = 5;
/** The maximum that a socket delivers at once. */
const chunkBytes = 65_536;
const mutations = 1_000_000;

const files = existsSync(samplesFolder) ? readdirSync(samplesFolder) : [];

/** Kinds of exposition by the prefixes of their files' names. */
const kinds = ["vllm", "ray_vllm", "sglang", "tgi", "triton", "trtllm", "llamacpp.prom", "dcgm"];

/** One or several whole expositions, the lines of each separately. */
const contents = (beginning: string): readonly Buffer[] =>
  files
    .filter((file) => file.startsWith(beginning) && file.endsWith(".prom"))
    .map((file) => Buffer.concat([readFileSync(join(samplesFolder, file)), Buffer.from("\n")]));

function parse(bytes: Uint8Array): PromText {
  const parser = new PromParser();
  for (let at = 0; at < bytes.length; at += chunkBytes) parser.write(bytes.subarray(at, at + chunkBytes));
  return parser.end();
}

/** MB per second of one core, the best of some rounds; each text is parsed separately, as a scrape is. */
function speed(beginning: string): Measurement {
  const texts = contents(beginning);
  const oneTurn = texts.reduce((bytes, text) => bytes + text.length, 0);
  const turns = Math.ceil(measuredBytes / oneTurn);
  let best = 0;
  let badLines = 0;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    for (let turn = 0; turn < turns; turn += 1) for (const text of texts) badLines += parse(text).badLines;
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, (turns * oneTurn) / (user + system));
  }
  const detail = `${texts.length} captured, ${oneTurn} bytes, ${turns} times, each parsed on its own, ${badLines} bad lines; best of ${rounds}`;
  return { figure: best, unit: "MB/s of one core", detail };
}

/** Reads mutations of every captured file from bytes to canonical metrics; the figure is the growth of the heap at the end. */
function survived(): Measurement {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const random = seededRandom(1).next;
  const samples = files.map((file) => readFileSync(join(samplesFolder, file)));
  let [bytes, badLines, slowestMs, before] = [0, 0, 0, 0];
  const startMs = performance.now();
  for (let turn = 0; turn < mutations; turn += 1) {
    if (turn === 10_000) {
      collect();
      before = process.memoryUsage().heapUsed;
    }
    const mutation = mutated(samples[turn % samples.length] ?? new Uint8Array(), random);
    const oneMs = performance.now();
    const metrics = parse(mutation);
    const mapping = chooseMapping(metrics, null);
    if (mapping !== undefined) readCanonicalMetrics(metrics, mapping);
    slowestMs = Math.max(slowestMs, performance.now() - oneMs);
    bytes += mutation.length;
    badLines += metrics.badLines;
  }
  const seconds = (performance.now() - startMs) / 1000;
  collect();
  const grown = Math.max(0, process.memoryUsage().heapUsed - before) / 1e6;
  const read = `${mutations.toLocaleString("en")} mutations of ${samples.length} files, ${Math.round(bytes / 1e6)} MB in ${seconds.toFixed(0)} s`;
  return {
    figure: grown,
    unit: "MB of heap",
    detail: `${read}, none thrown on, ${badLines.toLocaleString("en")} bad lines, the slowest ${slowestMs.toFixed(1)} ms`,
  };
}

if (files.length === 0) process.stdout.write(`${samplesFolder} is missing: expositions are not measured\n`);

export const expositionBenchmarks: readonly Benchmark[] =
  files.length === 0
    ? []
    : [
        ...kinds.map((kind) => ({
          name: `exposition of ${kind.replace(".prom", "")}`,
          budget: atLeast(80, "a line is cut into strings, or matched by expressions, before it is known to be needed"),
          run: () => speed(kind),
        })),
        { name: "mutated expositions", budget: atMost(2, "labels or broken lines of one reading are still held after it"), run: survived },
      ];
