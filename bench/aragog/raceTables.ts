import { mean } from "@/solver/numeric/quantile";
import { differenceOf, ratioOf, type SeedPair } from "../chimera/bySeed";
import { estimate, ratio, signed, table } from "../chimera/tables";
import { allGpus, LEARNT, LIKE_SOURCE, ORACLE, PER_INPUT, PER_WORKFLOW, type RaceRow } from "./raceCase";

type Figure = "programsPerSecond" | "p25Seconds" | "p50Seconds" | "p95Seconds";

const OVERLOAD = "overload";

const caseOf = ({ part, ladder, workflow, correlation, misleads }: RaceRow): string =>
  [part, ladder, workflow, correlation, misleads].join("|");

const distinct = <Value>(values: readonly Value[]): readonly Value[] => [...new Set(values)];

/** A figure of one system beside another's, of every case in which both stand, at one load. */
export function pairsOf(
  rows: readonly RaceRow[],
  [own, reference]: readonly [own: string, reference: string],
  figure: Figure,
  load = OVERLOAD,
): readonly SeedPair[] {
  const at = rows.filter((row) => row.load === load);
  return at.flatMap((row) => {
    const other = at.find((one) => one.system === reference && caseOf(one) === caseOf(row));
    return row.system === own && other !== undefined ? [{ own: row[figure], reference: other[figure] }] : [];
  });
}

const over = (rows: readonly RaceRow[], own: string, reference: string): string =>
  ratio(ratioOf(pairsOf(rows, [own, reference], "programsPerSecond")));

/** Cases in the order in which they were raced, each with its rows. */
function byCase(rows: readonly RaceRow[]): readonly { readonly name: string; readonly rows: readonly RaceRow[] }[] {
  return distinct(rows.map(caseOf)).flatMap((key) => {
    const own = rows.filter((row) => caseOf(row) === key);
    return own[0] === undefined ? [] : [{ name: `${own[0].ladder}, ${own[0].workflow}`, rows: own }];
  });
}

/** All tables of a race, each after a line that says what it has. */
export function raceTables(rows: readonly RaceRow[]): readonly string[] {
  const all = rows.filter(({ part }) => part === "all");
  return [
    "Programs a second at overload; systems without a router have its GPU as a second engine of the smallest model, and so have those named after all 8 GPUs:",
    throughputTable(all),
    "Aragog's programs a second over per-input's and per-workflow's, 7 GPUs against 8 as in the source, and 8 against 8:",
    gainTable(all),
    "Aragog's latency on all 8 GPUs over per-input's and per-workflow's, both with an oracle's sets, at nine tenths of what per-input, and what Aragog, serves at most:",
    latencyTable(all),
    "Points of accuracy above the largest models throughout, of the same programs:",
    accuracyTable(all),
    "Programs a second over per-input's and per-workflow's by what is varied, with an oracle's sets:",
    variedTable(rows.filter(({ part }) => part !== "all" && part !== "beams")),
    "Programs a second over per-input's by the width of the beam, 7 GPUs against 8, with an oracle's sets:",
    beamTable(rows.filter(({ part }) => part === "beams")),
  ];
}

function throughputTable(rows: readonly RaceRow[]): string {
  const full = rows.filter(({ load }) => load === OVERLOAD);
  const systems = distinct(full.map(({ system }) => system));
  const lines = byCase(full).map(({ name, rows: own }) => [
    name,
    ...systems.map((system) => {
      const row = own.find((one) => one.system === system);
      return row === undefined
        ? "-"
        : estimate(differenceOf([{ own: row.programsPerSecond, reference: row.programsPerSecond.map(() => 0) }]));
    }),
  ]);
  return table(["ladder, workflow", ...systems], lines);
}

const OWN = [ORACLE, allGpus(ORACLE), LEARNT, allGpus(LEARNT), LIKE_SOURCE];

function gainTable(rows: readonly RaceRow[]): string {
  const columns = OWN.flatMap((own) => [PER_INPUT, PER_WORKFLOW].map((reference) => ({ own, reference })));
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

function latencyTable(rows: readonly RaceRow[]): string {
  const loads = [PER_INPUT, allGpus(ORACLE)];
  const columns = loads.flatMap((load) =>
    [PER_INPUT, PER_WORKFLOW].flatMap((reference) => LATENCIES.map(([name, figure]) => ({ load, reference, name, figure }))),
  );
  const lines = byCase(rows).map(({ name, rows: of }) => [
    name,
    ...columns.map(({ load, reference, figure }) => ratio(ratioOf(pairsOf(of, [allGpus(ORACLE), reference], figure, load)))),
  ]);
  const header = columns.map(
    ({ load, reference, name }) => `${load === PER_INPUT ? "per-input's" : "Aragog's"} rate: ${name} / ${reference.toLowerCase()}`,
  );
  return table(["ladder, workflow", ...header], lines);
}

function accuracyTable(rows: readonly RaceRow[]): string {
  const full = rows.filter(({ load }) => load === OVERLOAD);
  const systems = distinct(full.map(({ system }) => system));
  const lines = byCase(full).map(({ name, rows: own }) => [
    name,
    (own[0]?.largestQuality ?? []).length === 0 ? "-" : mean(own[0]?.largestQuality ?? []).toFixed(1),
    ...systems.map((system) => {
      const row = own.find((one) => one.system === system);
      return row === undefined ? "-" : signed(differenceOf([{ own: row.quality, reference: row.largestQuality }]));
    }),
  ]);
  return table(["ladder, workflow", "all largest", ...systems], lines);
}

function variedTable(rows: readonly RaceRow[]): string {
  const lines = byCase(rows).map(({ name, rows: own }) => [
    own[0]?.part ?? "",
    name,
    ...[ORACLE, allGpus(ORACLE)].flatMap((system) => [PER_INPUT, PER_WORKFLOW].map((reference) => over(own, system, reference))),
  ]);
  return table(
    ["varied", "ladder, workflow", "/ per-input", "/ per-workflow", "all 8 GPUs / per-input", "all 8 GPUs / per-workflow"],
    lines,
  );
}

function beamTable(rows: readonly RaceRow[]): string {
  const widths = [1, 2, 4, 8];
  const lines = byCase(rows).map(({ name, rows: own }) => [
    name,
    ...widths.map((width) => over(own, width === 4 ? ORACLE : `B ${width}`, PER_INPUT)),
  ]);
  return table(["ladder, workflow", ...widths.map((width) => `B ${width}`)], lines);
}
