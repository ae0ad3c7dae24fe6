import { agreementBenchmarks } from "./agreement";
import { aragogLiveBenchmarks } from "./aragogLive";
import { aragogOutcomeBenchmarks } from "./aragogOutcomes";
import { aragogRaceBenchmarks } from "./aragogRace";
import { batchesTakenUpBenchmarks } from "./batchesTakenUp";
import { batchKillBenchmarks } from "./batchKills";
import { type Benchmark, verdict } from "./benchmark";
import { chimeraBenchmarks } from "./chimera";
import { compareBenchmarks } from "./compare";
import { exhaustiveBenchmarks } from "./compareExhaustive";
import { replayBenchmarks } from "./compareReplay";
import { configurationBenchmarks } from "./configurations";
import { decisionBenchmarks } from "./decision";
import { deploymentBenchmarks } from "./deployment";
import { ensembleBenchmarks } from "./ensembles";
import { expositionBenchmarks } from "./exposition";
import { faultMixBenchmarks } from "./faultMixBench";
import { floorBenchmarks } from "./floorHeld";
import { gateReplayBenchmarks } from "./gateReplay";
import { gatewayBenchmarks } from "./gateway";
import { gatewayMatrixBenchmarks } from "./gatewayMatrix";
import { kairosLiveBenchmarks } from "./kairosLive";
import { kairosOrderBenchmarks } from "./kairosOrder";
import { kairosRaceBenchmarks } from "./kairosRace";
import { liveBenchmarks } from "./live";
import { monotonyBenchmarks } from "./monotony";
import { oneReplicaBenchmarks } from "./oneReplica";
import { placementBenchmarks } from "./placement";
import { planBenchmarks } from "./plan";
import { predictionBenchmarks } from "./prediction";
import { predictorsLiveBenchmarks } from "./predictorsLive";
import { programBenchmarks } from "./programs";
import { promptBenchmarks } from "./prompts";
import { recordedSweepBenchmarks } from "./recordedSweep";
import { machine, writeResults, writeTables } from "./results";
import { rollOutBenchmarks } from "./rollOut";
import { roundsBenchmarks } from "./rounds";
import { seriesBenchmarks } from "./series";
import { stageFailureBenchmarks } from "./stageFailures";
import { streamBenchmarks } from "./streams";
import { telemetryBenchmarks } from "./telemetry";

const wanted = process.argv[2] ?? "";
const benchmarks: readonly Benchmark[] = [
  ...oneReplicaBenchmarks,
  ...recordedSweepBenchmarks,
  ...programBenchmarks,
  ...planBenchmarks,
  ...monotonyBenchmarks,
  ...deploymentBenchmarks,
  ...placementBenchmarks,
  ...floorBenchmarks,
  ...exhaustiveBenchmarks,
  ...compareBenchmarks,
  ...replayBenchmarks,
  ...chimeraBenchmarks,
  ...aragogOutcomeBenchmarks,
  ...aragogRaceBenchmarks,
  ...kairosOrderBenchmarks,
  ...kairosRaceBenchmarks,
  ...predictionBenchmarks,
  ...configurationBenchmarks,
  ...decisionBenchmarks,
  ...roundsBenchmarks,
  ...agreementBenchmarks,
  ...ensembleBenchmarks,
  ...gateReplayBenchmarks,
  ...kairosLiveBenchmarks,
  ...aragogLiveBenchmarks,
  ...gatewayBenchmarks,
  ...gatewayMatrixBenchmarks,
  ...predictorsLiveBenchmarks,
  ...streamBenchmarks,
  ...telemetryBenchmarks,
  ...seriesBenchmarks,
  ...promptBenchmarks,
  ...liveBenchmarks,
  ...expositionBenchmarks,
  ...faultMixBenchmarks,
  ...stageFailureBenchmarks,
  ...rollOutBenchmarks,
  ...batchKillBenchmarks,
  ...batchesTakenUpBenchmarks,
].filter(({ name }) => name.includes(wanted));
if (benchmarks.length === 0) {
  process.stderr.write(`No benchmark's name contains "${wanted}".\n`);
  process.exit(2);
}

const header = "| what | figure | budget | | on what |\n|---|---|---|---|---|\n";
process.stdout.write(`${machine}\n\n${header}`);
const rows = [];
let lines = header;
for (const { name, budget, run } of benchmarks) {
  const measured = await run();
  const { figure, unit, detail } = measured;
  const kept = verdict(measured, budget);
  rows.push({ name, figure, unit, budget, verdict: kept, detail });
  const allowed = budget === null ? "-" : `${budget.keep} ${budget.figure.toLocaleString("en")}`;
  const shown = figure >= 1000 ? Math.round(figure).toLocaleString("en") : figure.toPrecision(3);
  const line = `| ${name} | ${shown} ${unit} | ${allowed} | ${kept} | ${detail} |\n`;
  lines += line;
  process.stdout.write(line);
}

// A part of the benchmarks does not take the place of the day's whole run.
const file = writeResults(`${new Date().toISOString().slice(0, 10)}${wanted === "" ? "" : "-part"}`, rows);
if (wanted !== "") writeTables(`rows-${wanted.match(/[a-z0-9]+/gi)?.join("-")}`, [lines]);
process.stdout.write(`\nWritten to ${file}\n`);
// Upstreams and agents of the gateway benchmarks may hold sockets open.
process.exit(0);
