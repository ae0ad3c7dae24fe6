import { noUserCards } from "@/solver/hardware/catalogue";
import type { CellFigures } from "@/solver/lab/cellFigures";
import type { LabCell } from "@/solver/lab/labCell";
import type { LabSystem } from "@/solver/lab/labSpec";
import { mean } from "@/solver/numeric/quantile";
import type { Embeddings } from "@/solver/prediction/confidence";
import { runCells } from "../lib/runCells";
import { withIntervals, withSourceHeads } from "./directRun";
import { allGpus, everySeconds, LIKE_SOURCE, ORACLE, PER_INPUT, PER_WORKFLOW, type RaceCase, type RaceRow } from "./raceCase";
import { type RaceAnswers, raceAnswers } from "./raceLadders";
import { hardware, type SeededRace, seeded } from "./seededRace";

/** Splits of the prompts and draws of the programs over which figures are averaged. */
export const SEEDS = [1, 2, 3] as const;

/** Arrival rate as a multiple of the rate of all engines together: every engine that a policy uses is full. */
export const OVERLOAD = 2;

/** Rates of the latency race, as shares of a system's maximum: it sustains them, and so do systems with a higher maximum. */
const PACES = [
  { system: PER_WORKFLOW, share: 0.9 },
  { system: PER_INPUT, share: 0.5 },
  { system: PER_INPUT, share: 0.9 },
  { system: allGpus(ORACLE), share: 0.9 },
] as const;

/** The name of a rate in a row. */
export const paceName = (system: string, share: number): string => `${share} of ${system}`;

/** Cells of one seed at rates, in the order of the systems; learnt heads read the embeddings, or else words. */
export const run = (
  { answers, spec, systems }: SeededRace,
  rates: readonly number[],
  embeddings: Embeddings | null = null,
): Promise<readonly LabCell[]> =>
  runCells({
    ...(embeddings === null ? {} : { embeddings }),
    ...{ spec: { ...spec, rates: [...rates], systems: [...systems] }, workload: answers.workload, userCards: noUserCards },
    ...{ engineProfile: hardware.profile, artefacts: {}, texts: { kind: "given", texts: answers.texts } },
  });

/** All systems of a case, at overload and, where requested, at common rates below. */
export const raceOf = async (of: RaceCase): Promise<readonly RaceRow[]> => raceOn(of, await raceAnswers(of.ladder));

/** The same on available answers. */
export async function raceOn(of: RaceCase, answers: RaceAnswers): Promise<readonly RaceRow[]> {
  const races = (of.seeds ?? SEEDS).map((seed) => seeded(of, answers, seed));
  const overload = OVERLOAD * Math.max(...races.map(({ capacity }) => capacity));
  const full = await Promise.all(races.map((race) => run(race, [overload])));
  const load = { load: "overload", rate: overload };
  const rows = [...rowsOf(of, races, full, [load]), ...intervalRows(of, races, load)];
  if (of.latency === undefined) return rows;
  const loads = PACES.flatMap(({ system: name, share }) => {
    const own = rows.find(({ system }) => system === name);
    return own === undefined ? [] : [{ load: paceName(name, share), rate: share * mean(own.programsPerSecond) }];
  });
  const paced = await Promise.all(
    races.map((race) =>
      run(
        race,
        loads.map(({ rate }) => rate),
      ),
    ),
  );
  const modelled = races.map((race) => ({ ...race, systems: [{ name: LIKE_SOURCE }] }));
  const likeSource = races.map((race) => [{ ...withSourceHeads(race, overload), system: 0, rate: 0 }]);
  return [...rows, ...rowsOf(of, modelled, likeSource, [load]), ...rowsOf(of, races, paced, loads)];
}

/** Systems with an oracle's sets once more, with rounds at intervals. */
function intervalRows(
  of: RaceCase,
  races: readonly SeededRace[],
  load: { readonly load: string; readonly rate: number },
): readonly RaceRow[] {
  return (of.roundSeconds ?? []).flatMap((seconds) => {
    const own = races.map((race) => ({ race, systems: race.systems.filter(({ configurations }) => configurations === "oracle") }));
    const cells = own.map(({ race, systems }) =>
      systems.map((system, index) => ({ ...withIntervals(race, system, { rate: load.rate, seconds }), system: index, rate: 0 })),
    );
    const named = own.map(({ race, systems }) => ({
      ...race,
      systems: systems.map(({ name }) => ({ name: everySeconds(name, seconds) })),
    }));
    return rowsOf(of, named, cells, [load]);
  });
}

/** The rows of cells, a row for each system and load. */
export function rowsOf(
  { part, ladder, workflow, correlation, misleads }: RaceCase,
  races: readonly (Pick<SeededRace, "largestQuality"> & { readonly systems: readonly Pick<LabSystem, "name">[] })[],
  cells: readonly (readonly (CellFigures & Pick<LabCell, "system" | "rate">)[])[],
  loads: readonly { readonly load: string; readonly rate: number }[],
): readonly RaceRow[] {
  const systems = races[0]?.systems ?? [];
  return loads.flatMap(({ load, rate }, at) =>
    systems.map(({ name }, index): RaceRow => {
      const own = cells.flatMap((of) => of.filter((cell) => cell.system === index && cell.rate === at));
      const quantile = (percent: number): readonly number[] => own.map((cell) => cell.latencyQuantiles[percent] ?? Number.NaN);
      return {
        ...{ part, ladder: ladder.name, workflow, correlation, misleads, system: name, load, offeredPerSecond: rate },
        programsPerSecond: own.map((cell) => cell.programsPerSecond),
        ...{ p25Seconds: quantile(25), p50Seconds: quantile(50), p95Seconds: quantile(95) },
        quality: own.map(({ quality }) => quality ?? Number.NaN),
        largestQuality: races.map(({ largestQuality }) => largestQuality),
        unserved: own.reduce((sum, { unserved }) => sum + unserved, 0),
        shares: ladder.models.map((model) => mean(own.map((cell) => cell.models.find((each) => each.model === model)?.share ?? 0))),
      };
    }),
  );
}
