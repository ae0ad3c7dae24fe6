import type { OwnFigure, Reproduce, ReproducedRow, SourceFigure } from "@/server/cli/reproduce/reproduction";
import { reasonOf } from "@/server/lib/reasonOf";
import type { Measurement } from "../lib/benchmark";
import { machine } from "../lib/results";
import { entryOf, figureName, type MeasuredRows, ownFigure } from "./figureRows";
import { neededData } from "./neededData";
import { type ReproducedFigures, systems } from "./systems";

/** Measures a system's published figures again, each benchmark once; ours beside the source's, in the source's order. */
export const reproduce: Reproduce = async ({ system, figures: wanted, progress }) => {
  const figures = systems[system];
  const known = [...new Set(figures.source.map((row) => row.figure))];
  const unknown = wanted?.find((name) => !known.some((own) => figureName(own) === figureName(name)));
  if (unknown !== undefined)
    return { ok: false, message: `--figure: ${system} has no figure ${unknown} here; there are ${known.join(", ")}.` };
  const names = wanted?.map(figureName);
  const chosen = figures.source.filter((row) => names?.includes(figureName(row.figure)) ?? true);
  const data = neededData(figures.data);
  const missing = data.flatMap(({ file, present }) => (present ? [] : [file]));
  if (chosen.some((row) => entryOf(figures.entries, row).benchmark !== undefined))
    for (const { file, what, present } of data) if (present) progress(`Reads ${file}: ${what}.`);
  const measured = new Map<string, Measurement | Error>();
  const rows: ReproducedRow[] = [];
  for (const source of chosen) rows.push(await rowOf(source, { figures, missing, measured, progress }));
  return { ok: true, reproduction: { system, machine, data, rows } };
};

interface Measuring {
  readonly figures: ReproducedFigures;
  readonly missing: readonly string[];
  /** By benchmark. */
  readonly measured: Map<string, Measurement | Error>;
  progress(line: string): void;
}

async function rowOf(source: SourceFigure, measuring: Measuring): Promise<ReproducedRow> {
  const { difference, ...entry } = entryOf(measuring.figures.entries, source);
  return { source, difference, ours: await oursOf(entry, measuring) };
}

async function oursOf(
  { benchmark, as }: Pick<MeasuredRows, "benchmark" | "as">,
  { figures, missing, measured, progress }: Measuring,
): Promise<OwnFigure> {
  if (benchmark === undefined) return { kind: "not-measured" };
  const own = figures.benchmarks.find(({ name }) => name === benchmark);
  if (own === undefined)
    return missing.length > 0 ? { kind: "data-missing", files: missing } : failed(benchmark, "there is none of this name.");
  if (!measured.has(benchmark)) {
    progress(`Measuring: ${benchmark}`);
    try {
      measured.set(benchmark, await own.run());
    } catch (problem) {
      measured.set(benchmark, new Error(reasonOf(problem)));
    }
  }
  const found = measured.get(benchmark);
  if (found === undefined || found instanceof Error) return failed(benchmark, `${found?.message ?? "nothing was measured"}.`);
  return ownFigure(benchmark, found, as);
}

const failed = (benchmark: string, message: string): OwnFigure => ({ kind: "failed", benchmark, message });
