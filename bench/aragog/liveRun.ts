import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayRounds } from "@/server/contracts/gateway/gatewayRounds";
import type { ProgramLoadReport } from "@/server/load/programLoad";
import type { ProgramOutcome } from "@/solver/cluster/programOutcome";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { mean, quantile } from "@/solver/numeric/quantile";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { runSession } from "../gateway/session";
import type { AragogSetup } from "./liveSetup";

/** The deciding systems, in turn within one gateway. */
const turns = ["allLargest", "justInTime", "perInput"] as const;
export type Turn = (typeof turns)[number];

/** Programs' results under one policy; seconds are the engines'. */
export interface AragogFigures {
  /** Programs served divided by the time from the first arrival to the last answer. */
  readonly programsPerSecond: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
  /** Modelled from the labels of the models that answered, 0..100. */
  readonly quality: number;
  /** Requests by model, in shares. */
  readonly shares: readonly number[];
}

/** The same programs at the same arrivals under one policy: through processes, and on virtual time. */
export interface AragogTurn {
  readonly turn: Turn;
  readonly measured: AragogFigures;
  readonly simulated: AragogFigures;
  /** Over the programs' first requests: those with accurate configurations in their record, and those for which a predictor was called. */
  readonly toldShare: number | null;
  /** Delay that at least one program in twenty had at its start. */
  readonly lateSeconds: number;
  readonly failures: readonly string[];
}

export interface AragogSession {
  readonly turns: readonly AragogTurn[];
  readonly searches: GatewayRounds["predictions"];
}

/** Sends a setup's programs through separate gateway and emulator processes under each policy; and simulates the same. */
export async function runAragog(
  setup: AragogSetup,
  { timeScale, modelPerturbation }: { readonly timeScale: number; readonly modelPerturbation: string },
): Promise<AragogSession> {
  const { sample, replicas, gpus, artefacts, textOf, predictions } = setup;
  const policies = turns.map((turn) => setup[turn]);
  const { runs, searches } = await runSession({ setup, policies, timeScale, modelPerturbation, gpus, artefacts, textOf });
  const found = runs.map(({ policy, report, decisions }, at): AragogTurn => {
    const simulated = simulatePrograms({ policy: buildPolicy(policy), sample, replicas, predictions });
    return {
      turn: turns[at] ?? "allLargest",
      measured: figuresOf(sample, { ...report, horizonSeconds: horizonOf(sample, report) }),
      simulated: figuresOf(sample, simulated),
      toldShare: toldShareOf(decisions),
      lateSeconds: quantile(report.lateSeconds, 0.95),
      failures: report.failures,
    };
  });
  return { turns: found, searches };
}

/** First arrival to the last answer. */
function horizonOf({ arrivalSeconds }: ProgramSample, { endToEndSeconds }: ProgramLoadReport): number {
  const ends = endToEndSeconds.map((seconds, program) => (arrivalSeconds[program] ?? 0) + seconds).filter(Number.isFinite);
  return ends.reduce((latest, end) => Math.max(latest, end), 0) - (arrivalSeconds[0] ?? 0);
}

type Served = Pick<ProgramOutcome, "endToEndSeconds" | "quality" | "model" | "horizonSeconds">;

function figuresOf({ models }: ProgramSample, { endToEndSeconds, quality, model, horizonSeconds }: Served): AragogFigures {
  const served = endToEndSeconds.filter(Number.isFinite);
  return {
    programsPerSecond: served.length / horizonSeconds,
    p50Seconds: quantile(served, 0.5),
    p95Seconds: quantile(served, 0.95),
    quality: mean(quality.filter((value) => !Number.isNaN(value))),
    shares: models.map((_, index) => model.filter((own) => own === index).length / model.length),
  };
}

function toldShareOf(decisions: readonly Decision[]): number | null {
  const asked = decisions.filter(({ predictions }) => predictions?.configurations !== undefined);
  return asked.length === 0 ? null : asked.filter(({ configurations }) => configurations !== undefined).length / asked.length;
}
