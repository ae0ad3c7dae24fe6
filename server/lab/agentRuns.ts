import { type CsvSource, readCsv } from "@/server/planning/imports/readCsv";
import type { AgentCall, AgentRun } from "@/solver/workflow/measuredPrograms";
import { shown } from "@/solver/workload/outcomeRow";
import { type RowProblem, rowProblemTexts } from "@/solver/workload/rowProblems";

/** The two files of recorded runs: one line a call, and one line a run that says what the calls add up to. */
export interface AgentRunFiles {
  readonly calls: CsvSource;
  readonly runs: CsvSource;
}

export type ReadAgentRuns =
  | {
      readonly ok: true;
      /** Whole runs, in the order of the file of runs. */
      readonly runs: readonly RecordedRun[];
      /** Lines that could not be read and runs that were left out, in sentences; lines with the same problem share one. */
      readonly bad: readonly string[];
      /** What to know of the runs that were read, in sentences. */
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

/** A call as its line has it. */
interface RecordedCall extends AgentCall {
  readonly index: number;
  /** Both since the run began, by a clock of whole seconds. */
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface RecordedRun extends AgentRun {
  readonly calls: readonly RecordedCall[];
}

/** A run as its line has it. */
interface RunLine {
  readonly id: string;
  readonly line: number;
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** Times were read off a clock of whole seconds. */
const CLOCK_SECONDS = 1;

/**
 * Reads recorded runs of agents: a file of calls (run_id, call_idx, phase, agent, t_start_s, t_end_s, prompt_tokens, completion_tokens) and
 * a file of runs (run_id, n_calls, prompt_tokens, completion_tokens); other columns, including the texts of tasks, are ignored. A run
 * counts if all its calls were read, add up to the values of its line, and are sequential: programs made of it are strictly sequential.
 *
 * @returns the runs, or one sentence if a file as a whole is invalid or no run is left.
 */
export async function readAgentRuns(files: AgentRunFiles): Promise<ReadAgentRuns> {
  const bad: string[] = [];
  const callsOfRun = new Map<string, RecordedCall[]>();
  const readCalls = await readLines(files.calls, CALL_COLUMNS, bad, (cell) => {
    const [startSeconds, endSeconds] = [cell.number("t_start_s"), cell.number("t_end_s")];
    if (endSeconds < startSeconds) throw new BadLine(`t_end_s is ${endSeconds}; it must not be before t_start_s, ${startSeconds}`);
    const call = {
      index: cell.whole("call_idx", 0),
      phase: cell.text("phase"),
      agent: cell.text("agent"),
      startSeconds,
      endSeconds,
      promptTokens: cell.whole("prompt_tokens", 1),
      completionTokens: cell.whole("completion_tokens", 1),
    };
    const id = cell.name("run_id");
    const calls = callsOfRun.get(id);
    if (calls === undefined) callsOfRun.set(id, [call]);
    else calls.push(call);
  });
  if (readCalls !== null) return { ok: false, message: readCalls };

  const runs = new Map<string, RecordedRun | null>();
  const readRuns = await readLines(files.runs, RUN_COLUMNS, bad, (cell, line) => {
    const run: RunLine = {
      id: cell.name("run_id"),
      line,
      calls: cell.whole("n_calls", 1),
      promptTokens: cell.whole("prompt_tokens", 0),
      completionTokens: cell.whole("completion_tokens", 0),
    };
    if (runs.has(run.id)) throw new BadLine(`run_id is ${shown(run.id)} again; a run has one line`);
    const calls = (callsOfRun.get(run.id) ?? []).toSorted((one, other) => one.index - other.index);
    const problem = runProblem(run, calls);
    runs.set(run.id, problem === null ? { id: run.id, calls } : null);
    if (problem !== null) throw new BadLine(`${problem}; run ${shown(run.id)} is left out`);
  });
  if (readRuns !== null) return { ok: false, message: readRuns };

  for (const [id, calls] of callsOfRun) {
    if (!runs.has(id)) bad.push(`${files.runs.name}: no line of run ${shown(id)} could be read; its ${calls.length} calls are left out.`);
  }
  const whole = [...runs.values()].filter((run) => run !== null);
  if (whole.length === 0) return { ok: false, message: `${files.runs.name}: no run can be used; ${bad[0] ?? "there is none"}` };
  return { ok: true, runs: whole, bad, notes: notesOn(whole) };
}

/** Why a run's calls cannot be taken for the whole of it, in sequence; null where they can. */
function runProblem(run: RunLine, calls: readonly RecordedCall[]): string | null {
  if (calls.length !== run.calls) return `n_calls is ${run.calls}, of which ${calls.length} were read`;
  const astray = calls.find(({ index }, at) => index !== at);
  if (astray !== undefined) return `its calls count from 0 without gaps, found call_idx ${astray.index}`;
  for (const tokens of ["promptTokens", "completionTokens"] as const) {
    const sum = calls.reduce((total, call) => total + call[tokens], 0);
    const column = tokens === "promptTokens" ? "prompt_tokens" : "completion_tokens";
    if (sum !== run[tokens]) return `${column} is ${run[tokens]}, its calls add up to ${sum}`;
  }
  const early = calls.findIndex(({ startSeconds }, at) => startSeconds + CLOCK_SECONDS < (calls[at - 1]?.endSeconds ?? 0));
  return early < 0 ? null : `call ${early} starts before the one before it ends, and a sequence cannot say so`;
}

function notesOn(runs: readonly AgentRun[]): readonly string[] {
  const calls = runs.reduce((sum, run) => sum + run.calls.length, 0);
  const unnamed = runs.reduce((sum, run) => sum + run.calls.filter(({ agent, phase }) => agent === "" && phase === "").length, 0);
  const longer = runs.reduce(
    (sum, { calls }) => sum + calls.filter(({ promptTokens }, at) => promptTokens < (calls[at - 1]?.completionTokens ?? 0)).length,
    0,
  );
  return [
    ...(unnamed > 0 ? [`${unnamed} of ${calls} calls name neither agent nor phase.`] : []),
    ...(longer > 0
      ? [`${longer} of ${calls} calls have a prompt shorter than the answer before it, which is then taken as their input.`]
      : []),
  ];
}

const CALL_COLUMNS = ["run_id", "call_idx", "phase", "agent", "t_start_s", "t_end_s", "prompt_tokens", "completion_tokens"] as const;
const RUN_COLUMNS = ["run_id", "n_calls", "prompt_tokens", "completion_tokens"] as const;

/** The problem with a line, without its position; ends the line, and reading continues. */
class BadLine extends Error {}

interface Cells<Column extends string> {
  text(column: Column): string;
  /** Not empty. */
  name(column: Column): string;
  /** At least 0. */
  number(column: Column): number;
  whole(column: Column, low: number): number;
}

const MAX_WHOLE = 10_000_000;

/**
 * Reads a file line by line; problems of lines become sentences of `bad`, one for lines with the same problem. Returns the problem with the
 * file, null for none.
 */
async function readLines<Column extends string>(
  source: CsvSource,
  columns: readonly Column[],
  bad: string[],
  take: (cells: Cells<Column>, line: number) => void,
): Promise<string | null> {
  let names: readonly string[] = [];
  const problems: RowProblem[] = [];
  const read = await readCsv(source, {
    header(found) {
      names = found.map((name) => name.trim());
      const missing = columns.find((column) => !names.includes(column));
      return missing === undefined ? null : `${missing}: no such column among ${names.slice(0, 10).map(shown).join(", ")}; add it`;
    },
    row(cells, line) {
      try {
        take(
          cellsOf((column) => cells[names.indexOf(column)]?.trim() ?? ""),
          line,
        );
      } catch (error) {
        if (!(error instanceof BadLine)) throw error;
        problems.push({ line, reason: error.message });
      }
      return null;
    },
    misshapen(reason, line) {
      problems.push({ line, reason });
    },
  });
  bad.push(...rowProblemTexts(source.name, problems).map((text) => `${text}.`));
  return read.ok ? null : read.message;
}

function cellsOf(text: (column: string) => string): Cells<string> {
  const number = (column: string): number => {
    const value = text(column) === "" ? Number.NaN : Number(text(column));
    if (!(value >= 0 && Number.isFinite(value))) throw new BadLine(`${column} is ${shown(text(column))}; it must be a number from 0 up`);
    return value;
  };
  return {
    text,
    name(column) {
      if (text(column) === "") throw new BadLine(`${column} is empty; fill it in`);
      return text(column);
    },
    number,
    whole(column, low) {
      const value = text(column) === "" ? Number.NaN : Number(text(column));
      if (Number.isInteger(value) && value >= low && value <= MAX_WHOLE) return value;
      throw new BadLine(`${column} is ${shown(text(column))}; it must be a whole number from ${low} to ${MAX_WHOLE}`);
    },
  };
}
