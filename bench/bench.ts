import { agreementBenchmarks } from "./agreement/agreement";
import { aragogLiveBenchmarks } from "./aragog/aragogLive";
import { aragogOutcomeBenchmarks } from "./aragog/aragogOutcomes";
import { aragogRaceBenchmarks } from "./aragog/aragogRace";
import { roundsBenchmarks } from "./aragog/rounds";
import { batchKillBenchmarks } from "./batches/batchKills";
import { resumedBatchBenchmarks } from "./batches/resumedBatches";
import { cascadiaBenchmarks } from "./cascadia/cascadia";
import { chimeraBenchmarks } from "./chimera/chimera";
import { configurationBenchmarks } from "./configurations/configurations";
import { ensembleBenchmarks } from "./ensembles/ensembles";
import { faultMixBenchmarks } from "./faults/faultMixBench";
import { stageFailureBenchmarks } from "./faults/stageFailures";
import { gateReplayBenchmarks } from "./gate/gateReplay";
import { gateBenchmarks } from "./gates/gates";
import { decisionBenchmarks } from "./gateway/decision";
import { gatewayBenchmarks } from "./gateway/gateway";
import { gatewayMatrixBenchmarks } from "./gateway/gatewayMatrix";
import { streamBenchmarks } from "./gateway/streams";
import { hostileClientBenchmarks } from "./hostile/hostileClients";
import { jointRoundsBenchmarks } from "./joint/jointRounds";
import { kairosLiveBenchmarks } from "./kairos/kairosLive";
import { kairosOrderBenchmarks } from "./kairos/kairosOrder";
import { kairosRaceBenchmarks } from "./kairos/kairosRace";
import { type Benchmark, verdict } from "./lib/benchmark";
import { machine, writeResults, writeTables } from "./lib/results";
import { predictionBenchmarks } from "./prediction/prediction";
import { predictorOverheadBenchmarks } from "./prediction/predictorOverhead";
import { predictorsLiveBenchmarks } from "./prediction/predictorsLive";
import { realGateBenchmarks } from "./real/gates/realGates";
import { realBenchmarks } from "./real/realBench";
import { realRollOutBenchmarks } from "./realRollOut/realRollOut";
import { recordEngineBenchmarks } from "./recorded/recorder/recordEngine";
import { rollOutBenchmarks } from "./rollOuts/rollOut";
import { routerBenchmarks } from "./routers/routers";
import { compareBenchmarks } from "./solver/compare";
import { exhaustiveBenchmarks } from "./solver/compareExhaustive";
import { replayBenchmarks } from "./solver/compareReplay";
import { deploymentBenchmarks } from "./solver/deployment";
import { dispatchBenchmarks } from "./solver/dispatch";
import { floorBenchmarks } from "./solver/floorHeld";
import { monotonyBenchmarks } from "./solver/monotony";
import { oneReplicaBenchmarks } from "./solver/oneReplica";
import { placementBenchmarks } from "./solver/placement";
import { planBenchmarks } from "./solver/plan";
import { programBenchmarks } from "./solver/programs";
import { recordedFormBenchmarks } from "./solver/recordedForms";
import { recordedSweepBenchmarks } from "./solver/recordedSweep";
import { slackBenchmarks } from "./solver/slack";
import { expositionBenchmarks } from "./studio/exposition";
import { liveBenchmarks } from "./studio/live";
import { liveSlackBenchmarks } from "./studio/liveSlack";
import { promptBenchmarks } from "./studio/prompts";
import { seriesBenchmarks } from "./studio/series";
import { telemetryBenchmarks } from "./studio/telemetry";

const wanted = process.argv[2] ?? "";
const benchmarks: readonly Benchmark[] = [
  ...oneReplicaBenchmarks,
  ...recordedSweepBenchmarks,
  ...recordedFormBenchmarks,
  ...programBenchmarks,
  ...planBenchmarks,
  ...monotonyBenchmarks,
  ...slackBenchmarks,
  ...dispatchBenchmarks,
  ...deploymentBenchmarks,
  ...placementBenchmarks,
  ...floorBenchmarks,
  ...exhaustiveBenchmarks,
  ...compareBenchmarks,
  ...replayBenchmarks,
  ...cascadiaBenchmarks,
  ...chimeraBenchmarks,
  ...aragogOutcomeBenchmarks,
  ...aragogRaceBenchmarks,
  ...kairosOrderBenchmarks,
  ...kairosRaceBenchmarks,
  ...predictionBenchmarks,
  ...routerBenchmarks,
  ...configurationBenchmarks,
  ...decisionBenchmarks,
  ...roundsBenchmarks,
  ...agreementBenchmarks,
  ...ensembleBenchmarks,
  ...gateReplayBenchmarks,
  ...gateBenchmarks,
  ...jointRoundsBenchmarks,
  ...kairosLiveBenchmarks,
  ...aragogLiveBenchmarks,
  ...gatewayBenchmarks,
  ...gatewayMatrixBenchmarks,
  ...hostileClientBenchmarks,
  ...predictorOverheadBenchmarks,
  ...predictorsLiveBenchmarks,
  ...streamBenchmarks,
  ...telemetryBenchmarks,
  ...seriesBenchmarks,
  ...promptBenchmarks,
  ...liveBenchmarks,
  ...liveSlackBenchmarks,
  ...expositionBenchmarks,
  ...faultMixBenchmarks,
  ...stageFailureBenchmarks,
  ...rollOutBenchmarks,
  ...batchKillBenchmarks,
  ...resumedBatchBenchmarks,
  // They need hours and engines that are not always there.
  ...(wanted.includes("gates on real models") ? realGateBenchmarks : []),
  ...(wanted.includes("real engines") ? realBenchmarks : []),
  ...(wanted.includes("real roll-out") ? realRollOutBenchmarks : []),
  ...(wanted.includes("record engine") ? recordEngineBenchmarks : []),
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

// A subset of the benchmarks does not replace the day's whole run.
const file = writeResults(`${new Date().toISOString().slice(0, 10)}${wanted === "" ? "" : "-part"}`, rows);
if (wanted !== "") writeTables(`rows-${wanted.match(/[a-z0-9]+/gi)?.join("-")}`, [lines]);
process.stdout.write(`\nWritten to ${file}\n`);
// Upstreams and agents of the gateway benchmarks may keep sockets open.
process.exit(0);
