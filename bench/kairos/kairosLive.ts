import { mean } from "@/solver/numeric/quantile";
import { runSession } from "../gateway/session";
import { atLeast, type Benchmark, type Measurement } from "../lib/benchmark";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { figuresOf, type LiveFigures, learntEdges, trueEdges } from "./liveRun";
import { firstComeFirstServed, livePolicy, liveSetup } from "./liveSetup";

const leastLoad = "workflow x least-load";
const timeSlots = "workflow x time-slots";
const first = "fcfs x least-load";

/** In turn within one gateway, so that a change of the machine between them shows in repeated measurements. */
const turns = [
  { name: first, policy: firstComeFirstServed },
  { name: leastLoad, policy: livePolicy("workflow", "least-load") },
  { name: first, policy: firstComeFirstServed },
  { name: timeSlots, policy: livePolicy("workflow", "time-slots") },
] as const;

const seeds = [1, 2, 3] as const;
const setup = { programs: 300, engines: 2, maxInFlight: 16, queueShare: 0.5 } as const;
const TIME_SCALE = 5;

interface SessionFigures {
  readonly seed: number;
  readonly programsPerSecond: number;
  readonly programs: number;
  readonly requests: number;
  /** In the order of `turns`. */
  readonly runs: readonly LiveFigures[];
  /** Whether the learnt edges are those of the programs, call by call. */
  readonly exact: boolean;
}

async function runSeed(seed: number): Promise<SessionFigures> {
  const of = liveSetup({ ...setup, seed });
  const session = await runSession({
    setup: of,
    policies: turns.map(({ policy }) => policy),
    timeScale: TIME_SCALE,
    modelPerturbation: `kairos${seed}`,
  });
  const [learnt, truth] = [learntEdges(session.learnt), trueEdges(of.sample, turns.length)];
  const { sample, programsPerSecond } = of;
  return {
    ...{ seed, programsPerSecond, programs: sample.arrivalSeconds.length, requests: sample.program.length },
    runs: session.runs.map(figuresOf),
    exact: Object.keys({ ...learnt, ...truth }).every((edge) => learnt[edge] === truth[edge]),
  };
}

/** All seeds, one after another. */
const runAll = once(async (): Promise<readonly SessionFigures[]> => {
  const sessions: SessionFigures[] = [];
  for (const seed of seeds) {
    sessions.push(await runSeed(seed));
    process.stderr.write(`workflow order live: seed ${seed}\n`);
  }
  writeRows("kairos-live", sessions);
  writeTables("kairos-live", [tableOf(sessions), words(sessions)]);
  return sessions;
});

/** A figure of a session under one of `turns`, the mean where it was measured twice. */
const figureOf = ({ runs }: SessionFigures, name: string, read: (figures: LiveFigures) => number): number =>
  mean(turns.flatMap((turn, at) => (turn.name === name && runs[at] !== undefined ? [read(runs[at])] : [])));

/** Reduction of a figure relative to first come, first served, in per cent: the mean over sessions of the ratio within each. */
const less = (sessions: readonly SessionFigures[], name: string, read: (figures: LiveFigures) => number): number =>
  100 * (1 - mean(sessions.map((session) => figureOf(session, name, read) / figureOf(session, first, read))));

const columns: readonly {
  readonly header: string;
  readonly read: (figures: LiveFigures) => number;
  readonly text: (value: number) => string;
}[] = [
  { header: "mean end to end", read: ({ meanSeconds }) => meanSeconds, text: (value) => `${value.toFixed(1)} s` },
  { header: "p95", read: ({ p95Seconds }) => p95Seconds, text: (value) => `${value.toFixed(1)} s` },
  { header: "mean ms a token", read: ({ meanSecondsPerToken }) => meanSecondsPerToken, text: (value) => (1000 * value).toFixed(1) },
  { header: "p95 ms a token", read: ({ p95SecondsPerToken }) => p95SecondsPerToken, text: (value) => (1000 * value).toFixed(1) },
  { header: "queueing", read: ({ queueShare }) => queueShare, text: (value) => `${Math.round(100 * value)} %` },
];

function tableOf(sessions: readonly SessionFigures[]): string {
  const lines = sessions.flatMap(({ seed, runs }) =>
    turns.map(({ name }, at) => {
      const figures = runs[at];
      const found = columns.map(({ read, text }) => (figures === undefined ? "-" : text(read(figures))));
      return [String(seed), name, ...found, figures === undefined ? "-" : `${Math.round(1000 * figures.lateSeconds)} ms`];
    }),
  );
  const sums = [leastLoad, timeSlots].map((name) => [
    "all",
    `${name} against ${first}`,
    ...columns.map(({ read }) => `${(-less(sessions, name, read)).toFixed(1)} %`),
    "",
  ]);
  return table(["seed", "order x place, in turn", ...columns.map(({ header }) => header), "5 % began late by"], [...lines, ...sums]);
}

function words(sessions: readonly SessionFigures[]): string {
  const failed = sessions.reduce((sum, { runs }) => sum + runs.reduce((all, { failures }) => all + failures, 0), 0);
  const forecasts = mean(
    sessions.map((session) => mean([leastLoad, timeSlots].map((name) => figureOf(session, name, (f) => f.forecastShare)))),
  );
  const exact = sessions.filter((session) => session.exact).length;
  return `${sessions.map(({ programs, requests, programsPerSecond }) => `${programs} programs of ${requests} requests at ${programsPerSecond.toFixed(2)} a second`).join("; ")}. ${failed} failed. ${Math.round(100 * forecasts)} % of the requests had a forecast under the order that reads it. The graphs learnt had every call of every edge in ${exact} of ${sessions.length} sessions.`;
}

async function measured(name: string): Promise<Measurement> {
  const sessions = await runAll();
  const of = (read: (figures: LiveFigures) => number): string => less(sessions, name, read).toFixed(1);
  const bySeed = sessions.map((session) => less([session], name, ({ meanSeconds }) => meanSeconds).toFixed(1)).join(", ");
  const drift = sessions.map(({ runs }) => (100 * ((runs[2]?.meanSeconds ?? 0) / (runs[0]?.meanSeconds ?? 1) - 1)).toFixed(1)).join(", ");
  return {
    figure: less(sessions, name, ({ meanSeconds }) => meanSeconds),
    unit: "% less",
    detail: `mean end to end of programs of three applications, by seed ${bySeed}; p95 ${of((f) => f.p95Seconds)}, a token's mean ${of((f) => f.meanSecondsPerToken)} and p95 ${of((f) => f.p95SecondsPerToken)}; first come, first served again later: ${drift} % apart`,
  };
}

/** Switching the order of an active plan while the same programs arrive again: real gateway, emulated engines unlike their model. */
export const kairosLiveBenchmarks: readonly Benchmark[] = [leastLoad, timeSlots].map((name) => ({
  name: `workflow order live: ${name}`,
  budget: atLeast(5, "the gateway's forecasts or its order have no effect; runs of one order differ by up to 4 %"),
  run: () => measured(name),
}));
