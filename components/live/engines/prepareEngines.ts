import type { Tone } from "@/components/ui/Badge";
import { ABSENT, formatAge, formatCount, formatRate, formatSeconds } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { EngineFrame, EngineReadingName, LiveFrame, Sample } from "@/server/contracts/studio";
import { engineIn } from "./engineFindings";
import { whenText } from "./findings";
import { readingCell } from "./prepareReadings";

/** Frames of KV use shown with each engine's number: a minute, at one per second. */
const SPARK_FRAMES = 60;

/** A cell of the table: its text, why it is empty, and its sort value. */
interface EngineCell {
  readonly text: string;
  readonly title: string;
  readonly value: Sample;
}

export interface EngineRow {
  readonly engine: EngineFrame;
  readonly identity: ModelIdentity | undefined;
  /** Engine type and version. */
  readonly build: string;
  readonly health: { readonly word: string; readonly tone: Tone; readonly text: string };
  /** Since when it has its current health. */
  readonly since: { readonly text: string; readonly title: string };
  /** How old the engine's figures are, and why; null while they are fresh. */
  readonly telemetry: { readonly text: string; readonly reason: string } | null;
  readonly kvUse: readonly Sample[];
  readonly cells: Readonly<Record<EngineColumn, EngineCell>>;
}

const known: Readonly<Record<Exclude<EngineFrame["health"], "unknown">, EngineRow["health"]>> = {
  serving: { word: "serving", tone: "good", text: "The gateway sends requests to it." },
  draining: { word: "draining", tone: "accent", text: "It takes no new requests and finishes those in progress." },
  unhealthy: { word: "unhealthy", tone: "bad", text: "Calls to it failed: the gateway skips it." },
};

const figures = {
  running: { reading: "running", format: formatCount },
  waiting: { reading: "waiting", format: formatCount },
  preemptions: { reading: "preemptionsPerSecond", format: formatRate },
  tokens: { reading: "generationTokensPerSecond", format: formatRate },
  ttft: { reading: "ttftP95Seconds", format: formatSeconds },
  tpot: { reading: "tpotP95Seconds", format: formatSeconds },
  requests: { reading: "requestsPerSecond", format: formatRate },
} as const satisfies Readonly<Record<string, { readonly reading: EngineReadingName; readonly format: (value: number) => string }>>;

export type EngineColumn = keyof typeof figures;
const engineColumns = Object.keys(figures) as readonly EngineColumn[];

/** Engines of the newest frame by stage and name, each with its health, its figures and its last minute of KV use. */
export function engineRows(frames: readonly LiveFrame[], identities: ReadonlyMap<string, ModelIdentity>): readonly EngineRow[] {
  const frame = frames.at(-1);
  if (frame === undefined) return [];
  const recent = frames.slice(-SPARK_FRAMES);
  const order = [...identities.keys()];
  return frame.engines
    .map((engine, place) => ({
      engine,
      identity: identities.get(engine.model),
      build: engine.engine === null ? "" : [engine.engine.type, engine.engine.version ?? ""].join(" ").trim(),
      health: engine.health === "unknown" ? unlisted(engine, frames) : known[engine.health],
      since: whenText({ is: "since", atMs: engine.healthSinceMs }, frame.atMs),
      telemetry: telemetryOf(engine),
      kvUse: recent.map((each) => engineIn(each, engine.id, place)?.kvUse ?? null),
      cells: Object.fromEntries(engineColumns.map((column) => [column, cellOf(engine, column)])) as EngineRow["cells"],
    }))
    .sort((a, b) => order.indexOf(a.engine.model) - order.indexOf(b.engine.model) || a.engine.id.localeCompare(b.engine.id));
}

function cellOf({ readings }: EngineFrame, column: EngineColumn): EngineCell {
  const { reading, format } = figures[column];
  if (readings === null) return { text: ABSENT, title: "Its metrics cannot be read", value: null };
  const told = readings[reading];
  const cell = readingCell(told, format);
  switch (cell.kind) {
    case "value":
      return { text: cell.text, title: "", value: told.state === "value" ? told.value : null };
    case "nothing yet":
      return { text: ABSENT, title: "Nothing yet", value: null };
    case "absent":
      return { text: "absent", title: `Looked for ${cell.lookedFor}`, value: null };
    case "not applicable":
      return { text: "n/a", title: "Engines of this type and version have no such metric", value: null };
  }
}

/**
 * Health of an engine that the gateway does not report: the gateway is silent, or does not have the engine yet, any more, or by its plan.
 */
function unlisted({ id, state }: EngineFrame, frames: readonly LiveFrame[]): EngineRow["health"] {
  const silent = frames.at(-1)?.gateway.state === "unreachable";
  if (silent)
    return { word: "unknown", tone: "neutral", text: "The gateway does not answer, so whether it sends to this engine is not known." };
  const listed = frames.some((frame) => frame.engines.some((engine) => engine.id === id && engine.health !== "unknown"));
  if (listed) return { word: "withdrawn", tone: "neutral", text: "The gateway no longer sends to it." };
  return state === "fresh"
    ? {
        word: "not routed",
        tone: "neutral",
        text: "It answers, but the gateway sends no requests to it: no plan uses it, or it is still loading.",
      }
    : { word: "loading", tone: "neutral", text: "It does not answer yet, and the gateway sends nothing to it." };
}

function telemetryOf({ state, ageSeconds, reason }: EngineFrame): EngineRow["telemetry"] {
  if (state === "fresh") return null;
  // An engine that was never scraped has no age.
  return { text: ageSeconds > 0 ? `telemetry ${formatAge(ageSeconds)} old` : "no telemetry yet", reason };
}
