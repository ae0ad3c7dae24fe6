import type { EngineFrame, LiveFrame, Sample } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { formatAge } from "../ui/format";
import type { ModelIdentity } from "../ui/modelIdentity";

/** Seconds of KV use behind each engine's number. */
const SPARK_FRAMES = 60;

export interface EngineRow {
  readonly engine: EngineFrame;
  readonly identity: ModelIdentity | undefined;
  readonly health: { readonly word: string; readonly tone: Tone; readonly text: string };
  /** How old the engine's figures are, and why; null while they are fresh. */
  readonly telemetry: { readonly text: string; readonly reason: string } | null;
  readonly kvUse: readonly Sample[];
}

const known: Readonly<Record<Exclude<EngineFrame["health"], "unknown">, EngineRow["health"]>> = {
  serving: { word: "serving", tone: "good", text: "The gateway sends requests to it." },
  draining: { word: "draining", tone: "accent", text: "It takes no new request and finishes those it has." },
  unhealthy: { word: "unhealthy", tone: "bad", text: "Calls to it failed: the gateway passes it by." },
};

/** Engines of the newest frame by stage and name, each with its health and its last minute of KV use. */
export function engineRows(frames: readonly LiveFrame[], identities: ReadonlyMap<string, ModelIdentity>): readonly EngineRow[] {
  const frame = frames.at(-1);
  if (frame === undefined) return [];
  const recent = frames.slice(-SPARK_FRAMES).map((each) => new Map(each.engines.map((engine) => [engine.id, engine.kvUse])));
  const order = [...identities.keys()];
  return [...frame.engines]
    .sort((a, b) => order.indexOf(a.model) - order.indexOf(b.model) || a.id.localeCompare(b.id))
    .map((engine) => ({
      engine,
      identity: identities.get(engine.model),
      health: engine.health === "unknown" ? unlisted(engine.id, frames) : known[engine.health],
      telemetry: telemetryOf(engine),
      kvUse: recent.map((each) => each.get(engine.id) ?? null),
    }));
}

/** Health of an engine the gateway says nothing of: it is silent itself, or the engine is not yet, or no longer, among its own. */
function unlisted(engineId: string, frames: readonly LiveFrame[]): EngineRow["health"] {
  const silent = frames.at(-1)?.gateway.state === "unreachable";
  if (silent)
    return { word: "unknown", tone: "neutral", text: "The gateway does not answer, so whether it sends to this engine is not known." };
  const listed = frames.some((frame) => frame.engines.some((engine) => engine.id === engineId && engine.health !== "unknown"));
  return listed
    ? { word: "withdrawn", tone: "neutral", text: "The gateway no longer sends to it." }
    : { word: "loading", tone: "neutral", text: "The gateway does not send to it yet." };
}

function telemetryOf({ state, ageSeconds, reason }: EngineFrame): EngineRow["telemetry"] {
  if (state === "fresh") return null;
  // An engine that was never scraped has no age.
  return { text: ageSeconds > 0 ? `telemetry ${formatAge(ageSeconds)} old` : "no telemetry yet", reason };
}
