import { agreementBenchmarks } from "./agreement/agreement";
import { aragogLiveBenchmarks } from "./aragog/aragogLive";
import { aragogOutcomeBenchmarks } from "./aragog/aragogOutcomes";
import { aragogRaceBenchmarks } from "./aragog/aragogRace";
import { readerRaceBenchmarks } from "./aragog/readerRace";
import { roundsBenchmarks } from "./aragog/rounds";
import { batchKillBenchmarks } from "./batches/batchKills";
import { resumedBatchBenchmarks } from "./batches/resumedBatches";
import { cascadiaBenchmarks } from "./cascadia/cascadia";
import { chimeraBenchmarks } from "./chimera/chimera";
import { configurationBenchmarks } from "./configurations/configurations";
import { promptReaderBenchmarks } from "./configurations/promptReaders";
import { ensembleBenchmarks } from "./ensembles/ensembles";
import { faultMixBenchmarks } from "./faults/faultMixBench";
import { stageFailureBenchmarks } from "./faults/stageFailures";
import { gateReplayBenchmarks } from "./gate/gateReplay";
import { gateBenchmarks } from "./gates/gates";
import { decisionBenchmarks } from "./gateway/decision";
import { gatewayBenchmarks } from "./gateway/gateway";
import { gatewayMatrixBenchmarks } from "./gateway/gatewayMatrix";
import { severalGatewaysBenchmarks } from "./gateway/severalGateways";
import { streamBenchmarks } from "./gateway/streams";
import { hostedBenchmarks } from "./hosted/hosted";
import { hostileClientBenchmarks } from "./hostile/hostileClients";
import { jointAllTermsBenchmarks, jointBenchmarks, jointRecordedBenchmarks, jointUnseenBenchmarks } from "./joint/joint";
import { jointRoundsBenchmarks } from "./joint/rounds";
import { kairosLiveBenchmarks } from "./kairos/kairosLive";
import { kairosOrderBenchmarks } from "./kairos/kairosOrder";
import { kairosRaceBenchmarks } from "./kairos/kairosRace";
import { type Benchmark, budgetText } from "./lib/benchmark";
import { table } from "./lib/tables";
import { mixBenchmarks } from "./mix/mixEngines";
import { predictionBenchmarks } from "./prediction/prediction";
import { predictorOverheadBenchmarks } from "./prediction/predictorOverhead";
import { predictorsLiveBenchmarks } from "./prediction/predictorsLive";
import { prefixPlacementBenchmarks } from "./prefix/prefixPlacement";
import { realGateBenchmarks } from "./real/gates/realGates";
import { jointRealBenchmarks } from "./real/jointReal";
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
import { speedBenchmarks } from "./speed/speed";
import { expositionBenchmarks } from "./studio/exposition";
import { liveBenchmarks } from "./studio/live";
import { liveSlackBenchmarks } from "./studio/liveSlack";
import { promptBenchmarks } from "./studio/prompts";
import { seriesBenchmarks } from "./studio/series";
import { telemetryBenchmarks } from "./studio/telemetry";

/** What a whole run measures. */
export const wholeRun: readonly Benchmark[] = [
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
  ...readerRaceBenchmarks,
  ...kairosOrderBenchmarks,
  ...kairosRaceBenchmarks,
  ...predictionBenchmarks,
  ...routerBenchmarks,
  ...configurationBenchmarks,
  ...promptReaderBenchmarks,
  ...decisionBenchmarks,
  ...roundsBenchmarks,
  ...agreementBenchmarks,
  ...ensembleBenchmarks,
  ...gateReplayBenchmarks,
  ...gateBenchmarks,
  ...hostedBenchmarks,
  ...jointRoundsBenchmarks,
  ...jointBenchmarks,
  ...mixBenchmarks,
  ...prefixPlacementBenchmarks,
  ...kairosLiveBenchmarks,
  ...aragogLiveBenchmarks,
  ...gatewayBenchmarks,
  ...gatewayMatrixBenchmarks,
  ...severalGatewaysBenchmarks,
  ...speedBenchmarks,
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
];

/** They need hours, and some of them engines that are not always there; they run where the wanted name contains their key. */
export const onlyWanted: Readonly<Record<string, readonly Benchmark[]>> = {
  "gates on real models": realGateBenchmarks,
  "joint policy, real engines": jointRealBenchmarks,
  "joint policy, all terms": jointAllTermsBenchmarks,
  "joint policy, recorded runs": jointRecordedBenchmarks,
  "joint policy, unseen mixes": jointUnseenBenchmarks,
  "real engines": realBenchmarks,
  "real roll-out": realRollOutBenchmarks,
  "record engine": recordEngineBenchmarks,
};

/** A line for each budget, with what makes the benchmark miss it. */
export const budgetTable = (): string =>
  table(
    ["benchmark", "budget", "missed if"],
    [...wholeRun, ...Object.values(onlyWanted).flat()].flatMap(({ name, budget }) =>
      budget === null ? [] : [[name, budgetText(budget), budget.missedIf]],
    ),
  );
