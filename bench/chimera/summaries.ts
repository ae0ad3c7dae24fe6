import { differenceOf, distinct, ratioOf, type SeedPair, timesLess } from "../lib/bySeed";
import { estimate, ratio, signed, table } from "../lib/tables";
import { AGING_LOADS, type AgingRow, TIMES } from "./aging";
import { caseOf, systemOf, VLLM } from "./domination";
import type { FrontierRow } from "./frontier";
import type { QueueTimeRow } from "./queueTimes";

const ORDERS = [
  ["sjf", "fcfs"],
  ["stjf", "sjf"],
  ["stjf", "fcfs"],
] as const;

/** Waiting time of one order relative to another, over all models and tasks. */
export const queueRatio = (rows: readonly QueueTimeRow[], own: "sjf" | "stjf", reference: "fcfs" | "sjf") =>
  ratioOf(rows.map((row) => ({ own: row[own], reference: row[reference] })));

/** Over all models and tasks, by lengths, correlation and load. */
export function queueTimeTable(rows: readonly QueueTimeRow[]): string {
  const lines = distinct(rows.map(({ lengths }) => lengths)).flatMap((lengths) =>
    distinct(rows.map(({ correlation }) => correlation)).flatMap((correlation) =>
      distinct(rows.map(({ load }) => load)).flatMap((load) => {
        const own = rows.filter((row) => row.lengths === lengths && row.correlation === correlation && row.load === load);
        if (own.length === 0) return [];
        const waits = timesLess(own.map(({ fcfs }) => ({ own: fcfs.map(() => 1), reference: fcfs })));
        const cells = ORDERS.map(([order, reference]) => ratio(queueRatio(own, order, reference)));
        return [[lengths === "oracle" ? "true" : lengths, String(correlation), String(load), estimate(waits), ...cells]];
      }),
    ),
  );
  return table(["lengths", "stages correlate by", "load", "FCFS, s", "SJF / FCFS", "STJF / SJF", "STJF / FCFS"], lines);
}

/** One row per model and task, at one load and correlation. */
export function queueTimesByModel(rows: readonly QueueTimeRow[], load: number, correlation: number): string {
  const shown = rows.filter((row) => row.load === load && row.correlation === correlation);
  const lines = distinct(shown.map(({ model, task }) => `${model}, ${task}`)).map((name) => {
    const of = (lengths: string) => shown.filter((row) => `${row.model}, ${row.task}` === name && row.lengths === lengths);
    const cells = [of("learnt"), of("oracle")].flatMap((own) => [
      ratio(queueRatio(own, "sjf", "fcfs")),
      ratio(queueRatio(own, "stjf", "sjf")),
    ]);
    const wait = of("oracle").map(({ fcfs }) => ({ own: fcfs, reference: fcfs.map(() => 0) }));
    return [name, estimate(differenceOf(wait)), ...cells];
  });
  const header = ["model", "FCFS, s", "SJF / FCFS, learnt", "STJF / SJF, learnt", "SJF / FCFS, true", "STJF / SJF, true"];
  return table(header, lines);
}

type Figure = "secondsPerToken" | "makespanSeconds" | "quality" | "queueSeconds";

/** A figure of rows compared with the baseline's on the same ladder and load. */
export function against(rows: readonly FrontierRow[], own: readonly FrontierRow[], baseline: string, figure: Figure): readonly SeedPair[] {
  return own.flatMap((row) => {
    const other = rows.find((one) => systemOf(one) === baseline && caseOf(one) === caseOf(row));
    return other === undefined ? [] : [{ own: row[figure], reference: other[figure] }];
  });
}

/** Every system over all ladders, by load: speed-up over vLLM's balancing by a latency, and additional points. */
export function systemTable(rows: readonly FrontierRow[], latency: "secondsPerToken" | "makespanSeconds"): string {
  const others = rows.filter((row) => systemOf(row) !== VLLM);
  const loads = distinct(others.map(({ load }) => load));
  const lines = distinct(others.map(systemOf)).map((system) => [
    ...system.split("|"),
    ...loads.map((load) => {
      const own = others.filter((row) => systemOf(row) === system && row.load === load);
      return `${ratio(timesLess(against(rows, own, VLLM, latency)))}; ${signed(differenceOf(against(rows, own, VLLM, "quality")))}`;
    }),
  ]);
  return table(["system", "slack", "margin", "setting", ...loads.map((load) => `load ${load}: times; points`)], lines);
}

/** vLLM's balancing itself, and one system compared with it, by ladder and load. */
export function ladderTable(rows: readonly FrontierRow[], system: string): string {
  const lines = rows
    .filter((row) => systemOf(row) === system)
    .map((row) => {
      const of = (figure: Figure): readonly SeedPair[] => against(rows, [row], VLLM, figure);
      const absolute = (figure: Figure, scale: number): string =>
        estimate(
          differenceOf(
            of(figure).map(({ reference }) => ({ own: reference.map((value) => scale * value), reference: reference.map(() => 0) })),
          ),
        );
      return [
        caseOf(row).replace(" | ", ", load "),
        `${absolute("secondsPerToken", 1000)}; ${absolute("quality", 1)}`,
        absolute("queueSeconds", 1),
        ratio(timesLess(of("secondsPerToken"))),
        ratio(timesLess(of("makespanSeconds"))),
        signed(differenceOf(of("quality"))),
        row.shares.map((share) => `${Math.round(100 * share)} %`).join(", "),
      ];
    });
  const header = ["ladder", "vLLM: ms a token; quality", "its wait, s", "times faster a token", "a program", "points", "requests by model"];
  return table(header, lines);
}

/** Minimum duration of the arrivals relative to a program's time, by load, of the baselines and of all systems. */
export function spans(rows: readonly FrontierRow[]): string {
  const least = (own: readonly FrontierRow[]): number => Math.floor(Math.min(...own.map(({ span }) => span)));
  return distinct(rows.map(({ load }) => load))
    .map((load) => {
      const here = rows.filter((row) => row.load === load);
      return `${least(here.filter((row) => systemOf(row) === VLLM))} times at ${load} (${least(here)} under the slowest system)`;
    })
    .join(", ");
}

/**
 * Effect of aging on the worst wait and the mean compared with none in the same place, over models and tasks, by load and length of the
 * run.
 */
export function agingTable(rows: readonly AgingRow[]): string {
  const arms = distinct(rows.map(({ arm }) => arm));
  const columns = AGING_LOADS.flatMap((load) => TIMES.map((times) => ({ load, times })));
  const lineOf = (name: string, order: AgingRow["order"], arm: string, reference: string): readonly string[] => [
    name,
    ...columns.map(({ load, times }) => {
      const here = rows.filter((row) => row.load === load && row.times === times);
      const pairs = (figure: "longestWaitSeconds" | "queueSeconds"): readonly SeedPair[] =>
        here
          .filter((row) => row.order === order && row.arm === arm)
          .flatMap((row) => {
            const same = (one: AgingRow): boolean => `${one.model} ${one.task}` === `${row.model} ${row.task}`;
            const none = here.find((one) => one.arm === reference && one.order === "stjf" && same(one));
            return none === undefined ? [] : [{ own: row[figure], reference: none[figure] }];
          });
      return `${ratio(ratioOf(pairs("longestWaitSeconds")))}; ${ratio(ratioOf(pairs("queueSeconds")))}`;
    }),
  ];
  const noneIn = (arm: string): string => arms.find((one) => one === `${arm.split(",")[0]}, no aging`) ?? arm;
  return table(
    ["order, waiting in", ...columns.map(({ load, times }) => `load ${load}${times === 1 ? "" : `, ${times} times as long`}`)],
    [
      lineOf("FCFS, engines", "fcfs", "engines, no aging", "engines, no aging"),
      ...arms.filter((arm) => noneIn(arm) !== arm).map((arm) => lineOf(`STJF, ${arm}`, "stjf", arm, noneIn(arm))),
    ],
  );
}
