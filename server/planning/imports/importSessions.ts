import type { Outcome } from "@/server/contracts/studio";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { MAX_TOKENS, type Read, readNumber, readWhole, shown } from "@/solver/workload/outcomeRow";
import { type CsvSource, readCsv } from "./readCsv";

const needed = ["model", "gpu", "tp", "prompts", "mean_output_tokens", "max_output_tokens", "seconds"] as const;
/** Empty or missing: all prompts at once, no load measured, measured on real engines. */
const optional = ["concurrency", "load_seconds", "origin"] as const;

/** Columns of a table of measured sessions. */
export const sessionColumns: readonly string[] = [...needed, ...optional];

/** More rows are not the sessions of one team, and would not be stored. */
const MOST_ROWS = 20_000;
const MOST_PROMPTS = 10_000_000;
const MOST_SECONDS = 1e7;

type Cells = Readonly<Record<(typeof needed)[number] | (typeof optional)[number], string>>;

/**
 * Reads measured sessions from a CSV, a row each; rows without prompts are loads only.
 *
 * @returns one sentence with the line and the field if anything in it is invalid: then no row is imported.
 */
export async function importSessions(source: CsvSource, cards: CardCatalogue): Promise<Outcome<{ readonly rows: readonly SessionRow[] }>> {
  const rows: SessionRow[] = [];
  let names: readonly string[] = [];
  const read = await readCsv(source, {
    header(found) {
      names = found.map((name) => name.trim());
      const missing = needed.filter((name) => !names.includes(name));
      const had = names.slice(0, 15).map(shown).join(", ");
      return missing.length === 0
        ? null
        : `${missing.join(", ")}: no such column among ${had}; name the columns ${sessionColumns.join(", ")}`;
    },
    row(cells) {
      if (rows.length >= MOST_ROWS) return { end: `the table goes on after ${MOST_ROWS} rows; take a part of it` };
      const byName = new Map(names.map((name, at) => [name, cells[at]?.trim() ?? ""]));
      const row = sessionRow(Object.fromEntries(sessionColumns.map((name) => [name, byName.get(name) ?? ""])) as Cells, cards);
      if (row.ok) rows.push(row.value);
      return row.ok ? null : row.problem;
    },
  });
  return read.ok ? { ok: true, rows } : read;
}

function sessionRow(cells: Cells, { models, gpus }: CardCatalogue): Read<SessionRow> {
  const { model, gpu, origin } = cells;
  if (cardOf(models, model) === undefined) return refuse(`model is ${shown(model)}, of which there is no card; add one under Cards`);
  if (cardOf(gpus, gpu) === undefined) return refuse(`gpu is ${shown(gpu)}, of which there is no card; name one of the catalogue`);
  const whole = (field: keyof Cells, low: number, high: number) => readWhole(field, cells[field], { low, high });
  const number = (field: keyof Cells, low: number, high: number) => readNumber(field, cells[field], { low, high });
  const tp = whole("tp", 1, 16);
  if (!tp.ok) return tp;
  const prompts = whole("prompts", 0, MOST_PROMPTS);
  if (!prompts.ok) return prompts;
  const concurrency = cells.concurrency === "" ? absent : whole("concurrency", 1, MOST_PROMPTS);
  if (!concurrency.ok) return concurrency;
  const longest = number("max_output_tokens", 0, MAX_TOKENS);
  if (!longest.ok) return longest;
  const mean = number("mean_output_tokens", 0, longest.value);
  if (!mean.ok) return mean;
  const seconds = number("seconds", 0, MOST_SECONDS);
  if (!seconds.ok) return seconds;
  const load = cells.load_seconds === "" ? absent : number("load_seconds", 0, MOST_SECONDS);
  if (!load.ok) return load;
  if (origin !== "" && origin !== "measured" && origin !== "emulated")
    return refuse(`origin is ${shown(origin)}; it must be measured or emulated, or be left out for measured ones`);
  if (prompts.value > 0 && seconds.value === 0)
    return refuse("seconds is 0, though there were prompts; give the time from the first prompt to the last answer");
  if (prompts.value === 0 && load.value === null)
    return refuse("load_seconds is missing, and there were no prompts either; give one of the two");
  return {
    ok: true,
    value: {
      ...{ model, gpu, tp: tp.value, prompts: prompts.value, concurrency: concurrency.value, meanOutputTokens: mean.value },
      ...{
        maxOutputTokens: longest.value,
        seconds: seconds.value,
        loadSeconds: load.value,
        origin: origin === "emulated" ? origin : "measured",
      },
    },
  };
}

const absent = { ok: true, value: null } as const;

const refuse = (problem: string) => ({ ok: false, problem }) as const;
