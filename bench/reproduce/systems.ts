import type { ReproducedSystem, SourceFigure } from "@/server/cli/reproduce/reproduction";
import { aragogOutcomeBenchmarks } from "../aragog/aragogOutcomes";
import { aragogRaceBenchmarks, aragogSourceFigures } from "../aragog/aragogRace";
import { roundsBenchmarks } from "../aragog/rounds";
import aragogSource from "../aragog/source.json" with { type: "json" };
import { cascadiaBenchmarks, namedPlanBenchmarks } from "../cascadia/cascadia";
import cascadiaSource from "../cascadia/source.json" with { type: "json" };
import { chimeraBenchmarks } from "../chimera/chimera";
import chimeraSource from "../chimera/source.json" with { type: "json" };
import { configurationBenchmarks } from "../configurations/configurations";
import { ensembleBenchmarks, mosaicSourceFigures } from "../ensembles/ensembles";
import { gateReplayBenchmarks, gateSourceFigures } from "../gate/gateReplay";
import { kairosOrderBenchmarks } from "../kairos/kairosOrder";
import { kairosRaceBenchmarks, kairosSourceFigures } from "../kairos/kairosRace";
import kairosSource from "../kairos/source.json" with { type: "json" };
import type { Benchmark } from "../lib/benchmark";
import mosaicSource from "../mosaic/source.json" with { type: "json" };
import { predictionBenchmarks } from "../prediction/prediction";
import { predictorsLiveBenchmarks } from "../prediction/predictorsLive";
import { compareBenchmarks } from "../solver/compare";
import { exhaustiveBenchmarks } from "../solver/compareExhaustive";
import { replayBenchmarks } from "../solver/compareReplay";
import { planBenchmarks } from "../solver/plan";
import { aragogRows } from "./aragog";
import { cascadiaRows } from "./cascadia";
import { chimeraRows } from "./chimera";
import type { MeasuredRows } from "./figureRows";
import { kairosRows } from "./kairos";
import { mosaicRows } from "./mosaic";
import type { DataName } from "./neededData";
import { parallelBenchmarks } from "./parallelRates";
import { replannedBenchmarks } from "./replanned";
import { judgeRatioBenchmarks } from "./replannedJudges";
import { detectedRatioBenchmarks } from "./replannedReplay";

/** A system's published figures, and what of this repository measures them. */
export interface ReproducedFigures {
  readonly source: readonly SourceFigure[];
  readonly entries: readonly MeasuredRows[];
  /** Those whose data are missing are not among them. */
  readonly benchmarks: readonly Benchmark[];
  readonly data: readonly DataName[];
}

export const systems: Readonly<Record<ReproducedSystem, ReproducedFigures>> = {
  cascadia: {
    source: cascadiaSource,
    entries: cascadiaRows,
    benchmarks: [
      ...replannedBenchmarks,
      ...judgeRatioBenchmarks,
      ...detectedRatioBenchmarks,
      ...namedPlanBenchmarks,
      ...parallelBenchmarks,
      ...cascadiaBenchmarks,
      ...compareBenchmarks,
      ...replayBenchmarks,
      ...exhaustiveBenchmarks,
      ...planBenchmarks,
    ],
    data: ["outcomes", "prompts", "arrivals"],
  },
  chimera: {
    source: chimeraSource,
    entries: chimeraRows,
    benchmarks: [...chimeraBenchmarks, ...predictionBenchmarks, ...predictorsLiveBenchmarks],
    data: ["outcomes", "prompts", "arrivals"],
  },
  aragog: {
    source: aragogSource,
    entries: aragogRows,
    benchmarks: [
      ...aragogRaceBenchmarks,
      ...aragogSourceFigures,
      ...aragogOutcomeBenchmarks,
      ...roundsBenchmarks,
      ...configurationBenchmarks,
    ],
    data: ["outcomes", "prompts", "arrivals"],
  },
  kairos: {
    source: kairosSource,
    entries: kairosRows,
    benchmarks: [...kairosRaceBenchmarks, ...kairosSourceFigures, ...kairosOrderBenchmarks],
    data: ["outcomes", "arrivals", "calls", "runs"],
  },
  mosaic: {
    source: mosaicSource,
    entries: mosaicRows,
    benchmarks: [...ensembleBenchmarks, ...mosaicSourceFigures, ...gateReplayBenchmarks, ...gateSourceFigures],
    data: ["gsm", "crux", "prompts"],
  },
};
