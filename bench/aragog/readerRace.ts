import { mean } from "@/solver/numeric/quantile";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { e5Small, embeddingsOf, encoderFolder, miniLm } from "../lib/encoded";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { ratio, table } from "../lib/tables";
import { withBound } from "./boundRun";
import { HALFWAY, LEARNT, ORACLE, PER_INPUT, PER_WORKFLOW, PER_WORKFLOW_ALLOWED, type RaceCase, type RaceRow } from "./raceCase";
import { mainLadders, type RaceLadder, raceAnswers } from "./raceLadders";
import { OVERLOAD, paceName, rowsOf, run, SEEDS } from "./raceRun";
import { accuracyOf, byCase, over, pairsOf, throughputOf } from "./raceTables";
import { type SeededRace, seeded } from "./seededRace";

const WORKFLOWS = ["self-refine", "text-to-sql", "voting", "decomposition"] as const;

/** Share of per-input's throughput at which latency is taken. */
const PACE = 0.5;

const ENCODERS = [miniLm, e5Small].filter((addOn) => encoderFolder(addOn) !== null);
const readBy = (encoder: { readonly name: string }): string => `Aragog, heads on ${encoder.name}`;
const BOUND = "Aragog, a reader of recorded answers";
const READERS = [LEARNT, ...ENCODERS.map(readBy), BOUND];
const REFERENCES = [PER_INPUT, PER_WORKFLOW, PER_WORKFLOW_ALLOWED] as const;

/** Seven of eight GPUs have engines for systems that read prompts, as in the source; the others have the eighth as well. */
async function rowsOfCase(ladder: RaceLadder, workflow: string): Promise<readonly RaceRow[]> {
  const answers = await raceAnswers(ladder);
  const of: RaceCase = {
    ...{ part: "readers", ladder, workflow, gpus: 8, ...HALFWAY },
    only: [...REFERENCES, ORACLE, LEARNT],
  };
  const races = SEEDS.map((seed) => {
    const race = seeded(of, answers, seed);
    return { ...race, systems: race.systems.filter(({ name }) => of.only?.includes(name)) };
  });
  const rate = OVERLOAD * Math.max(...races.map(({ capacity }) => capacity));
  const load = { load: "overload", rate };
  const rows = [...rowsOf(of, races, await inTurn(races, (race) => run(race, [rate])), [load])];
  const perInput = rows.find(({ system }) => system === PER_INPUT);
  const pace = PACE * mean(perInput?.programsPerSecond ?? []);
  const words = races.map((race) => alone(race, LEARNT));
  rows.push(...rowsOf(of, words, await inTurn(words, (race) => run(race, [pace])), [{ load: paceName(PER_INPUT, PACE), rate: pace }]));
  for (const encoder of ENCODERS) {
    const embeddings = await embeddingsOf(
      answers.texts.map((text) => text ?? ""),
      encoder,
    );
    const named = words.map((race) => ({ ...race, systems: race.systems.map((system) => ({ ...system, name: readBy(encoder) })) }));
    rows.push(...rowsOf(of, named, await inTurn(named, (race) => run(race, [rate], embeddings)), [load]));
  }
  const bound = races.map((race) => [{ ...withBound(race, rate), system: 0, rate: 0 }]);
  const named = races.map((race) => ({ ...race, systems: [{ name: BOUND }] }));
  return [...rows, ...rowsOf(of, named, bound, [load])];
}

const alone = (race: SeededRace, name: string): SeededRace => ({ ...race, systems: race.systems.filter((system) => system.name === name) });

/** Runs seed after seed: their threads would share the same cores. */
async function inTurn<Result>(races: readonly SeededRace[], runOne: (race: SeededRace) => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const race of races) results.push(await runOne(race));
  return results;
}

/** All cases of a ladder; recorded after each. */
const races = mainLadders.map((ladder) => ({
  ladder,
  rowsOf: once(async (): Promise<readonly RaceRow[]> => {
    const rows: RaceRow[] = [];
    for (const workflow of WORKFLOWS) {
      rows.push(...(await rowsOfCase(ladder, workflow)));
      process.stderr.write(`aragog readers, ${ladder.name}, ${workflow}\n`);
      const file = `aragog-readers-${ladder.task}`;
      writeRows(file, rows);
      writeTables(file, [tableOf(rows)]);
    }
    return rows;
  }),
}));

function tableOf(rows: readonly RaceRow[]): string {
  const lines = byCase(rows).map(({ name, rows: own }) => [
    name,
    ...[...REFERENCES, ORACLE, ...READERS].map((system) => throughputOf(own, system)),
    ...READERS.map((reader) => over(own, reader, PER_INPUT)),
    ...READERS.map((reader) => over(own, reader, PER_WORKFLOW_ALLOWED)),
    ...READERS.map((reader) => accuracyOf(own, reader)),
  ]);
  return table(
    [
      "ladder, workflow",
      ...[...REFERENCES, ORACLE, ...READERS],
      ...READERS.map((reader) => `${reader} / per-input`),
      ...READERS.map((reader) => `${reader} / per-workflow, 2 points allowed`),
      ...READERS.map((reader) => `points, ${reader}`),
    ],
    lines,
  );
}

async function overPerInput({ ladder, rowsOf: raced }: (typeof races)[number], reader: string): Promise<Measurement> {
  const rows = await raced();
  const against = (own: string, reference: string) => ratioOf(pairsOf(rows, [own, reference], "programsPerSecond"));
  const of = against(reader, PER_INPUT);
  const points = rows.filter(({ system, load }) => system === reader && load === "overload");
  const medians = rows.filter(({ load }) => load !== "overload").map(({ p50Seconds }) => mean(p50Seconds));
  return {
    ...overSeeds(of),
    unit: "x",
    detail: `programs a second at overload, geometric mean ${ratio(of)} over ${WORKFLOWS.length} workflows on ${ladder.name}; over per-workflow ${ratio(against(reader, PER_WORKFLOW))}, over per-workflow with 2 points allowed ${ratio(against(reader, PER_WORKFLOW_ALLOWED))}, over heads on words ${ratio(against(reader, LEARNT))}; points above the largest models throughout ${points.map(({ quality, largestQuality }) => (mean(quality) - mean(largestQuality)).toFixed(1)).join(", ")}; least median latency ${Math.min(...medians).toFixed(2)} s at ${PACE} of per-input's throughput; the source 1.43 to 1.76 over per-input`,
  };
}

/** Learnt heads by what they read of a prompt, raced; none where the data or the encoder is missing. */
export const readerRaceBenchmarks: readonly Benchmark[] =
  dataPresent() && encoderFolder() !== null
    ? races.flatMap((race) =>
        READERS.map(
          (reader): Benchmark => ({
            name: `aragog readers, ${race.ladder.name.split(" ")[0]}: ${reader} over per-input`,
            budget: null,
            run: () => overPerInput(race, reader),
          }),
        ),
      )
    : [];
