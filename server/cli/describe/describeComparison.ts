import type { ComparedMean } from "@/server/planning/compare/comparedMeans";
import type { ComparedCase } from "@/server/planning/compare/compareSystems";
import type { OracleGain } from "@/solver/cascade/routing/noiseFloor";
import { wholePercent } from "@/solver/wording/wording";
import { textTable } from "./textTable";

/** A comparison as terminal text for an operator. */
export function describeComparison(cases: readonly ComparedCase[], means: readonly ComparedMean[], sloScale: number): string {
  return [
    ...cases.map((one) => describeCase(one, sloScale)),
    "Means over cases, Weir = 1; SLO scales only where a system keeps up with the rate\n",
    textTable([
      ["system", "cases", "keeps up", "SLO scale", "throughput, re-planned", "plan kept", "floor held"],
      ...means.map(({ kind, cases: count, keepsUp, sloScale: scale, throughput, replanned, heldFloor }) => [
        kind,
        String(count),
        String(keepsUp),
        times(scale),
        times(replanned),
        times(throughput),
        String(heldFloor),
      ]),
    ]),
  ].join("");
}

function describeCase(
  { workload, floor, requestsPerSecond, baseSeconds, oracle, systems, refused }: ComparedCase,
  sloScale: number,
): string {
  return [
    `${workload}, floor ${floor}, ${requestsPerSecond.toFixed(1)} requests/s, SLO base ${baseSeconds.toPrecision(3)} s\n`,
    systems.length === 0
      ? ""
      : textTable([
          [
            "system",
            "GPUs",
            "quality",
            "load",
            "p95",
            "SLO scale",
            "",
            `requests/s at ${sloScale}, re-planned`,
            "",
            "plan kept",
            "",
            "$ a request",
          ],
          ...systems.map((system) => [
            system.name,
            String(system.gpus),
            system.quality.toFixed(1),
            wholePercent(system.busiestLoad),
            `${system.p95Seconds.toPrecision(3)} s`,
            system.sloScale.toFixed(2),
            times(system.against.sloScale),
            system.replannedRequestsPerSecond?.toFixed(1) ?? "-",
            times(system.against.replanned),
            system.highestRequestsPerSecond.toFixed(1),
            times(system.against.throughput),
            system.costUsdPerRequest?.toPrecision(3) ?? "-",
          ]),
        ]),
    ...refused.map(({ name, reason }) => `  ${name}: ${reason}\n`),
    oracleText(oracle),
    "\n",
  ].join("");
}

function oracleText({ oracle, gain, noiseFloor }: OracleGain): string {
  const noise =
    noiseFloor === null
      ? "no model answered twice, so how much of that is noise is not known"
      : `two copies of one model gain ${noiseFloor.gain.toFixed(1)} already`;
  return `  The best answer to each prompt: quality ${oracle.toFixed(1)}, ${gain.toFixed(1)} above the best model alone; ${noise}.\n`;
}

const times = (ratio: number | null): string => (ratio === null || !Number.isFinite(ratio) ? "-" : `${ratio.toFixed(2)}x`);
