import { mean } from "@/solver/numeric/quantile";
import { differenceOf, distinct, pairsIn, ratioOf, type SeedPair } from "../lib/bySeed";
import { estimate, ratio, signed, table } from "../lib/tables";
import {
  allGpus,
  everySeconds,
  INTERVALS,
  LEARNT,
  LIKE_SOURCE,
  LONGER,
  ORACLE,
  PER_INPUT,
  PER_WORKFLOW,
  PER_WORKFLOW_ALLOWED,
  type RaceRow,
} from "./raceCase";

type Figure = "programsPerSecond" | "p25Seconds" | "p50Seconds" | "p95Seconds";

const OVERLOAD = "overload";

const caseOf = ({ part, ladder, workflow, correlation, misleads }: RaceRow): string =>
  [part, ladder, workflow, correlation, misleads].join("|");

/** A figure of one system compared with another's, over every case with both, at one load. */
export function pairsOf(
  rows: readonly RaceRow[],
  names: readonly [own: string, reference: string],
  figure: Figure,
  load = OVERLOAD,
): readonly SeedPair[] {
  const at = rows.filter((row) => row.load === load);
  return pairsIn(at, names, { figure: (row) => row[figure], isSameCase: (one, other) => caseOf(one) === caseOf(other) });
}

export const over = (rows: readonly RaceRow[], own: string, reference: string): string =>
  ratio(ratioOf(pairsOf(rows, [own, reference], "programsPerSecond")));

/** Cases in the order in which they were raced, each with its rows. */
export function byCase(rows: readonly RaceRow[]): readonly { readonly name: string; readonly rows: readonly RaceRow[] }[] {
  return distinct(rows.map(caseOf)).flatMap((key) => {
    const own = rows.filter((row) => caseOf(row) === key);
    return own[0] === undefined ? [] : [{ name: `${own[0].ladder}, ${own[0].workflow}`, rows: own }];
  });
}

/** All tables of a race, each after a line that describes it. */
export function raceTables(rows: readonly RaceRow[]): readonly string[] {
  const all = rows.filter(({ part }) => part === "all");
  return [
    "Programs a second at overload; systems without a router have its GPU as a second engine of the smallest model, and so have those named after all 8 GPUs:",
    throughputTable(all),
    "Aragog's programs a second over per-input's and per-workflow's, 7 GPUs against 8 as in the source, and 8 against 8:",
    gainTable(all),
    "Latencies over per-input's at shares of what per-workflow, per-input and Aragog on all 8 GPUs serve at most, geometric means over the cases; whoever serves less than the rate is in overload, where latency is as long as the run:",
    latencyRatios(all),
    "The same in seconds, P25 / P50 / P95:",
    latencyTable(all),
    "The same of runs five times as long, of one seed:",
    latencyTable(rows.filter(({ part }) => part === LONGER)),
    "Points of accuracy above the largest models throughout, of the same programs:",
    accuracyTable(all),
    "Programs a second over per-input's and per-workflow's by what is varied, with an oracle's sets:",
    variedTable(rows.filter(({ part }) => !["all", "beams", "rounds", LONGER].includes(part))),
    "Programs a second over per-input's by the width of the beam, 7 GPUs against 8, with an oracle's sets:",
    beamTable(rows.filter(({ part }) => part === "beams")),
    "Programs a second at overload with rounds at intervals, as the source polls, beside rounds whenever a place is free; with an oracle's sets:",
    roundsTable(rows.filter(({ part }) => part === "rounds")),
  ];
}

const atOverload = (rows: readonly RaceRow[], system: string): RaceRow | undefined =>
  rows.find((row) => row.system === system && row.load === OVERLOAD);

/** A system's programs a second in the rows of one case. */
export function throughputOf(rows: readonly RaceRow[], system: string): string {
  const row = atOverload(rows, system);
  return row === undefined ? "-" : estimate(differenceOf([{ own: row.programsPerSecond, reference: row.programsPerSecond.map(() => 0) }]));
}

/** Points by which it exceeds the largest models throughout there. */
export function accuracyOf(rows: readonly RaceRow[], system: string): string {
  const row = atOverload(rows, system);
  return row === undefined ? "-" : signed(differenceOf([{ own: row.quality, reference: row.largestQuality }]));
}

function throughputTable(rows: readonly RaceRow[]): string {
  const full = rows.filter(({ load }) => load === OVERLOAD);
  const systems = distinct(full.map(({ system }) => system));
  const lines = byCase(full).map(({ name, rows: own }) => [name, ...systems.map((system) => throughputOf(own, system))]);
  return table(["ladder, workflow", ...systems], lines);
}

/** The reference of each system: learnt heads, which may lose 2 points, have a per-workflow that may lose as many too. */
const AGAINST: readonly (readonly [own: string, references: readonly string[]])[] = [
  [ORACLE, [PER_INPUT, PER_WORKFLOW]],
  [allGpus(ORACLE), [PER_INPUT, PER_WORKFLOW]],
  [LEARNT, [PER_INPUT, PER_WORKFLOW, PER_WORKFLOW_ALLOWED]],
  [LIKE_SOURCE, [PER_INPUT, PER_WORKFLOW, PER_WORKFLOW_ALLOWED]],
];

function gainTable(rows: readonly RaceRow[]): string {
  const columns = AGAINST.flatMap(([own, references]) => references.map((reference) => ({ own, reference })));
  const lineOf = (name: string, of: readonly RaceRow[]): readonly string[] => [
    name,
    ...columns.map(({ own, reference }) => over(of, own, reference)),
  ];
  return table(
    ["ladder, workflow", ...columns.map(({ own, reference }) => `${own} / ${reference.toLowerCase()}`)],
    [...byCase(rows).map(({ name, rows: of }) => lineOf(name, of)), lineOf("geometric mean", rows)],
  );
}

const LATENCIES = [
  ["P25", "p25Seconds"],
  ["P50", "p50Seconds"],
  ["P95", "p95Seconds"],
] as const;

const pacesOf = (rows: readonly RaceRow[]): readonly string[] => distinct(rows.map(({ load }) => load)).filter((load) => load !== OVERLOAD);

/** Latencies of every system relative to per-input's, geometric means over the cases. */
function latencyRatios(rows: readonly RaceRow[]): string {
  const columns = pacesOf(rows).flatMap((load) => LATENCIES.map(([name, figure]) => ({ load, name, figure })));
  const paced = rows.filter(({ load }) => load !== OVERLOAD);
  const systems = distinct(paced.map(({ system }) => system)).filter((system) => system !== PER_INPUT);
  const lines = systems.map((system) => [
    system,
    ...columns.map(({ load, figure }) => ratio(ratioOf(pairsOf(rows, [system, PER_INPUT], figure, load)))),
  ]);
  return table(["over per-input's", ...columns.map(({ load, name }) => `${load}: ${name}`)], lines);
}

/** Absolute latencies, means over the seeds. */
function latencyTable(rows: readonly RaceRow[]): string {
  const paced = rows.filter(({ load }) => load !== OVERLOAD);
  const systems = distinct(paced.map(({ system }) => system));
  const lines = byCase(paced).flatMap(({ name, rows: of }) =>
    pacesOf(of).map((load) => {
      const own = of.filter((row) => row.load === load);
      return [
        name,
        `${load}: ${(own[0]?.offeredPerSecond ?? 0).toFixed(1)} a second`,
        ...systems.map((system) => {
          const row = own.find((one) => one.system === system);
          return row === undefined ? "-" : LATENCIES.map(([, figure]) => mean(row[figure]).toPrecision(3)).join(" / ");
        }),
      ];
    }),
  );
  return table(["ladder, workflow", "rate", ...systems], lines);
}

function accuracyTable(rows: readonly RaceRow[]): string {
  const full = rows.filter(({ load }) => load === OVERLOAD);
  const systems = distinct(full.map(({ system }) => system));
  const lines = byCase(full).map(({ name, rows: own }) => [
    name,
    (own[0]?.largestQuality ?? []).length === 0 ? "-" : mean(own[0]?.largestQuality ?? []).toFixed(1),
    ...systems.map((system) => accuracyOf(own, system)),
  ]);
  return table(["ladder, workflow", "all largest", ...systems], lines);
}

function variedTable(rows: readonly RaceRow[]): string {
  const columns = [
    ...[ORACLE, allGpus(ORACLE)].flatMap((own) => [PER_INPUT, PER_WORKFLOW].map((reference) => [own, reference] as const)),
    [LEARNT, PER_WORKFLOW_ALLOWED] as const,
  ];
  const lines = byCase(rows).map(({ name, rows: own }) => [
    own[0]?.part ?? "",
    name,
    ...columns.map(([system, reference]) => over(own, system, reference)),
    accuracyOf(own, LEARNT),
  ]);
  return table(
    ["varied", "ladder, workflow", ...columns.map(([own, reference]) => `${own} / ${reference.toLowerCase()}`), "points, Aragog"],
    lines,
  );
}

/** Programs a second with rounds whenever a place is free, and with rounds at intervals, a line each. */
function roundsTable(rows: readonly RaceRow[]): string {
  const systems = [PER_INPUT, "B 1", ORACLE, "B 8", allGpus(ORACLE)];
  const lines = byCase(rows).flatMap(({ name, rows: own }) =>
    [null, ...INTERVALS].map((seconds) => [
      name,
      seconds === null ? "whenever a place is free" : `every ${seconds} s`,
      ...systems.map((system) => throughputOf(own, seconds === null ? system : everySeconds(system, seconds))),
    ]),
  );
  return table(["ladder, workflow", "rounds", ...systems], lines);
}

function beamTable(rows: readonly RaceRow[]): string {
  const widths = [1, 2, 4, 8];
  const lines = byCase(rows).map(({ name, rows: own }) => [
    name,
    ...widths.map((width) => over(own, width === 4 ? ORACLE : `B ${width}`, PER_INPUT)),
  ]);
  return table(["ladder, workflow", ...widths.map((width) => `B ${width}`)], lines);
}
