import { niceTicks } from "@/components/charts/niceTicks";
import { formatCount, formatCounted, formatPercent, formatSeconds } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { PlacedSchedule } from "@/server/contracts/studio";

/** One load of a model on a worker and what it answers there; engine seconds from the beginning. */
export interface GanttSession {
  readonly model: string;
  readonly prompts: number;
  readonly fromSeconds: number;
  readonly readySeconds: number;
  readonly untilSeconds: number;
  /** Share of its prompts that are answered, 0..1, while it runs: its end is then an estimate. null: it is as planned, or finished. */
  readonly share: number | null;
}

/** What runs on a worker, in order. */
export interface GanttLine {
  readonly name: string;
  readonly sessions: readonly GanttSession[];
  /** Not an additional worker: it uses the GPUs of others once they are done. */
  readonly isOnOthersGpus?: boolean;
}

/** One complete schedule. */
export interface GanttInput {
  readonly key: string;
  readonly title: string;
  /** Next to the title: modelled, measured, emulated. */
  readonly word: string | null;
  readonly lines: readonly GanttLine[];
  /** Share of all workers' time, 0..1; null: unknown, and no time without a session is shaded. */
  readonly idle: number | null;
  /** Which workers are done at its end, if not all that have a session. */
  readonly subject?: string;
  /** An operator ended it early. */
  readonly isStopped?: boolean;
}

/** All positions are shares of the time axis, 0..1. */
export interface GanttBar {
  readonly key: string;
  readonly from: number;
  readonly width: number;
  /** Share of the bar in which the model is loaded. */
  readonly loading: number;
  /** Share of the answering part that is done, while it runs; null: it is not running. */
  readonly share: number | null;
  readonly hue: string;
  /** On the bar: as much of letter and count as fits. */
  readonly label: string;
  /** For the readout and for screen readers. */
  readonly text: string;
}

export interface GanttRow {
  readonly key: string;
  /** Empty where rows are too thin for every name. */
  readonly label: string;
  readonly bars: readonly GanttBar[];
  readonly idle: readonly { readonly from: number; readonly width: number }[];
}

export interface GanttDrawing {
  readonly key: string;
  readonly title: string;
  readonly word: string | null;
  readonly rows: readonly GanttRow[];
  /** The end of its last worker, actual or expected: `done after 925 s`. */
  readonly end: { readonly at: number; readonly text: string };
  /** `12 % idle`; empty: not known. */
  readonly idleText: string;
  /** A summary in a sentence. */
  readonly says: string;
}

export interface GanttPicture {
  readonly drawings: readonly GanttDrawing[];
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
  /** Models drawn, each once. */
  readonly key: readonly ModelIdentity[];
  /** Whether any time is shaded as idle. */
  readonly isShaded: boolean;
  readonly rowPx: number;
  readonly isThin: boolean;
  /** Size of a bar's label; null: rows are too thin for any. */
  readonly fontPx: number | null;
  /** Sessions in words, schedule by schedule. */
  readonly table: readonly {
    readonly key: string;
    readonly schedule: string;
    readonly worker: string;
    readonly model: string;
    readonly prompts: string;
    readonly from: string;
    readonly ready: string;
    readonly until: string;
  }[];
}

/** Pixels: a row where there is room, the thinnest that can be pointed at, and what a whole chart should not exceed. */
const [ROW_PX, LEAST_ROW_PX, CHART_PX] = [26, 5, 640];
/** Thinner rows have no room for borders above and below, and none for letters of the usual size. */
const THIN_PX = 16;
/** Least distance between names of workers. */
const NAME_PX = 14;
/** The least width of a chart with labels, and the widths of a letter and a digit. */
const [PLOT_PX, LETTER_PX, DIGIT_PX] = [640, 14, 6.5];

/** Seconds of an axis in the unit that suits its end. */
function timeUnit(endSeconds: number): { readonly seconds: number; readonly name: string } {
  if (endSeconds <= 6_000) return { seconds: 1, name: "s" };
  return endSeconds <= 6 * 3_600 ? { seconds: 60, name: "min" } : { seconds: 3_600, name: "h" };
}

/** Seconds from the beginning; zero is written without milliseconds. */
export const sinceStart = (seconds: number): string => (seconds === 0 ? "0\u00a0s" : formatSeconds(seconds));

/** A planned schedule as lines of workers. */
export const linesOfSchedule = ({ workers }: Pick<PlacedSchedule, "workers">): readonly GanttLine[] =>
  workers.map((sessions, worker) => ({
    name: `worker ${worker + 1}`,
    sessions: sessions.map((session) => ({ ...session, share: null })),
  }));

/** More rows than this make a chart thin; this many neighbours without a session are then one row. */
const [MANY_ROWS, LEAST_IDLE] = [24, 4] as const;

/** Lines of a chart: with many workers, neighbours without a session share one line. */
function drawnLines(lines: readonly GanttLine[]): readonly GanttLine[] {
  if (lines.length <= MANY_ROWS) return lines;
  const drawn: GanttLine[] = [];
  for (let at = 0; at < lines.length; ) {
    const next = lines.findIndex(({ sessions }, index) => index >= at && sessions.length > 0);
    const until = next === -1 ? lines.length : next;
    const [first, last] = [lines[at], lines[until - 1]];
    if (first === undefined) break;
    if (until - at >= LEAST_IDLE && last !== undefined) {
      drawn.push({ name: `${first.name}–${last.name.split(" ").at(-1)}`, sessions: [] });
      at = until;
    } else {
      drawn.push(first);
      at += 1;
    }
  }
  return drawn;
}

const endOf = ({ lines }: GanttInput): number =>
  lines.reduce((end, { sessions }) => sessions.reduce((latest, { untilSeconds }) => Math.max(latest, untilSeconds), end), 0);

function sessionText({ session, turn, turns }: { session: GanttSession; turn: number; turns: number }): string {
  const { model, prompts, fromSeconds, readySeconds, untilSeconds, share } = session;
  const order = turns > 1 ? `session ${turn} of ${turns}, ` : "";
  const load = readySeconds > fromSeconds ? `loads from ${sinceStart(fromSeconds)} to ${formatSeconds(readySeconds)}, ` : "";
  const answers =
    share === null
      ? `answers until ${formatSeconds(untilSeconds)}`
      : `${formatPercent(share)} answered, expected until ${formatSeconds(untilSeconds)}`;
  return `${order}${model}, ${formatCounted(prompts, "question")}: ${load}${answers}`;
}

/** As much of letter and count as fits in so many pixels. */
function labelOf(session: GanttSession, letter: string, px: number): string {
  const count = formatCount(session.prompts);
  const letterPx = LETTER_PX + (letter.length - 1) * DIGIT_PX;
  if (px >= letterPx + 6 + count.length * DIGIT_PX) return `${letter} ${count}`;
  return px >= letterPx ? letter : "";
}

function gapsOf(sessions: readonly GanttSession[], { at, end }: { at: (seconds: number) => number; end: number }): GanttRow["idle"] {
  const gaps: { from: number; width: number }[] = [];
  let free = 0;
  for (const { fromSeconds, untilSeconds } of [...sessions, { fromSeconds: end, untilSeconds: end }]) {
    if (fromSeconds - free > end * 1e-6) gaps.push({ from: at(free), width: at(fromSeconds) - at(free) });
    free = Math.max(free, untilSeconds);
  }
  return gaps;
}

/**
 * Prepares schedules drawn over one another on one time axis: the height of a worker's row, the label that a bar holds, idle time,
 * and the text for each. Rows share a height, so that schedules can be compared. null: there is nothing to draw.
 */
export function prepareGantt(inputs: readonly GanttInput[], identities: ReadonlyMap<string, ModelIdentity>): GanttPicture | null {
  const axisEnd = inputs.reduce((end, input) => Math.max(end, endOf(input)), 0);
  if (!(axisEnd > 0)) return null;
  const mostRows = inputs.reduce((most, { lines }) => Math.max(most, drawnLines(lines).length), 1);
  const rowPx = Math.max(LEAST_ROW_PX, Math.min(ROW_PX, Math.floor(CHART_PX / mostRows)));
  const fontPx = rowPx >= THIN_PX ? 11 : rowPx >= 10 ? 8 : null;
  const everyName = Math.ceil(NAME_PX / rowPx);
  const at = (seconds: number): number => seconds / axisEnd;
  const unit = timeUnit(axisEnd);
  const found = new Set<string>();
  const drawings = inputs.map((input): GanttDrawing => {
    const end = endOf(input);
    const sessionsText = formatCounted(
      input.lines.reduce((sum, { sessions }) => sum + sessions.length, 0),
      "session",
    );
    const workersText = formatCounted(input.lines.filter(({ isOnOthersGpus }) => isOnOthersGpus !== true).length, "worker");
    const rows = drawnLines(input.lines).map(({ name, sessions }, row): GanttRow => {
      const bars = sessions.map((session, turn): GanttBar => {
        const { model, fromSeconds, readySeconds, untilSeconds } = session;
        const identity = identities.get(model);
        found.add(model);
        const width = at(untilSeconds - fromSeconds);
        const loading = untilSeconds > fromSeconds ? (readySeconds - fromSeconds) / (untilSeconds - fromSeconds) : 0;
        return {
          ...{ key: `${row} ${turn}`, from: at(fromSeconds), width, loading, share: session.share },
          hue: identity?.hue ?? "var(--ink-3)",
          label: fontPx === null ? "" : labelOf(session, identity?.letter ?? "?", width * (1 - loading) * PLOT_PX),
          text: `${name}, ${sessionText({ session, turn: turn + 1, turns: sessions.length })}`,
        };
      });
      const idle = input.idle === null ? [] : gapsOf(sessions, { at, end });
      return { key: name, label: row % everyName === 0 ? name : "", bars, idle };
    });
    const isOpen = input.lines.some(({ sessions }) => sessions.some(({ share }) => share !== null));
    const subject = input.subject === undefined ? "" : `${input.subject} `;
    const ending = input.isStopped ? "stopped" : isOpen ? "expected to be done" : "done";
    const endText = `${subject}${ending} after ${sinceStart(end)}`;
    const idleText = input.idle === null ? "" : `${formatPercent(input.idle)} idle`;
    return {
      ...{ key: input.key, title: input.title, word: input.word, rows, idleText },
      end: { at: at(end), text: endText },
      says: `${input.title}: ${workersText}, ${sessionsText}, the last ${endText}${idleText === "" ? "" : `, ${idleText}`}.`,
    };
  });
  return {
    ...{ drawings, rowPx, fontPx, isThin: rowPx < THIN_PX, isShaded: inputs.some(({ idle }) => idle !== null) },
    ticks: niceTicks({ low: 0, high: axisEnd / unit.seconds, count: 6 }).map((tick) => ({
      at: at(tick * unit.seconds),
      text: `${formatCount(tick)}\u00a0${unit.name}`,
    })),
    key: [...identities.values()].filter(({ model }) => found.has(model)),
    table: inputs.flatMap(({ key, title, lines }) =>
      lines.flatMap(({ name, sessions }, row) =>
        sessions.map(({ model, prompts, fromSeconds, readySeconds, untilSeconds }, turn) => ({
          ...{ key: `${key} ${row} ${turn}`, schedule: title, worker: name, model, prompts: formatCount(prompts) },
          ...{ from: sinceStart(fromSeconds), ready: sinceStart(readySeconds), until: formatSeconds(untilSeconds) },
        })),
      ),
    ),
  };
}
