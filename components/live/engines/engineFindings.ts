import { formatPercent, formatRate } from "@/components/ui/format";
import type { EngineFrame, LiveFrame, ScrapeFailureKind, TargetState } from "@/server/contracts/studio";
import { type Finding, grouped, heldSince, type Lasting } from "./findings";
import { knownValue } from "./prepareReadings";

/** An engine in a frame before the newest, in which it has `place`: it has the same index there unless engines were added or removed. */
export const engineIn = ({ engines }: LiveFrame, id: string, place: number): EngineFrame | undefined =>
  engines[place]?.id === id ? engines[place] : engines.find((engine) => engine.id === id);

/** A queue or a full cache that is shorter than this is a burst, which passes by itself. */
const SUSTAINED_MS = 30_000;

/** How long an engine's event is shown. */
const EVENT_MS = 5 * 60_000;

/** From this use on a waiting request waits for room in the KV cache rather than for its turn: engines reserve the last few blocks. */
const KV_FULL = 0.95;

/** Kinds of failed scrapes, in words. */
export const failureWords: Readonly<Record<ScrapeFailureKind, string>> = {
  unreachable: "not reachable",
  access: "key or certificate missing",
  timeout: "no answer in time",
  status: "answers with an error",
  "too-large": "answers too much to read",
  unreadable: "unreadable answer",
};

const failureActions: Readonly<Record<ScrapeFailureKind, string>> = {
  unreachable: "Check that the process runs and that its port is open to the studio.",
  access: "Put the file there, or set the variable and start the studio again, where the studio runs.",
  timeout: "Check the log, the GPU and the load of the host for a hang.",
  status: "The log says why; the answer may come from a proxy.",
  "too-large": "Check that the address serves metrics, or export fewer series.",
  unreadable: "Check that the address is an engine's; put unknown metric names into a mapping file (WEIR_ENGINE_MAPPINGS).",
};

/** How a target fails, as part of a finding; null where nothing was tried yet. */
export function failingOf({ failing, state, sinceMs }: TargetState) {
  if (failing !== null) {
    return {
      kind: failing.kind,
      word: failureWords[failing.kind],
      when: { is: "since", atMs: failing.sinceMs } as const,
      nextTryAtMs: failing.nextTryAtMs,
      action: failureActions[failing.kind],
    };
  }
  // Without a failed attempt it was never scraped, or an attempt is in progress.
  if (state !== "stale") return null;
  return {
    kind: "late",
    word: "late",
    when: { is: "since", atMs: sinceMs } as const,
    nextTryAtMs: null,
    action: "A reading is in progress.",
  };
}

/** Problems of engines. An engine that loads, drains or was withdrawn is not missing and is not reported. */
export function engineFindings(frames: readonly LiveFrame[]): readonly Finding[] {
  const frame = frames.at(-1);
  if (frame === undefined) return [];
  const findings = frame.engines.flatMap((engine, place) => {
    const watched = { engine, place, frames };
    const { health, healthSinceMs } = lastHeard(engine, frame, frames);
    if (health === "unhealthy") return [unhealthy(engine, healthSinceMs)];
    if (health !== "serving") return [];
    return engine.state === "fresh" ? [...troubles(watched), ...events(engine, frame.atMs)] : silent(engine);
  });
  return [...findings, ...absences(frame.engines)];
}

/** The engine with its current health from the gateway, or the last known one. */
function lastHeard(engine: EngineFrame, { gateway }: LiveFrame, frames: readonly LiveFrame[]): EngineFrame {
  if (engine.health !== "unknown" || gateway.state !== "unreachable") return engine;
  const heard = frames.findLast((frame) => frame.gateway.state !== "unreachable");
  return heard?.engines.find(({ id }) => id === engine.id) ?? engine;
}

const about = ({ id }: EngineFrame) => ({ kind: "engine", subject: id, nextTryAtMs: null }) as const;

/** An engine with the frames that show how long a state has lasted. */
interface Watched {
  readonly engine: EngineFrame;
  readonly place: number;
  readonly frames: readonly LiveFrame[];
}

/** Since when a condition of an engine has held; null while it does not. */
const since = ({ engine, place, frames }: Watched, holds: (engine: EngineFrame) => boolean | null): Lasting | null =>
  heldSince(frames, (frame) => {
    const then = engineIn(frame, engine.id, place);
    return then === undefined ? false : holds(then);
  });

function unhealthy(engine: EngineFrame, sinceMs: number): Finding {
  const failing = engine.state === "fresh" ? null : failingOf(engine);
  return {
    ...about(engine),
    cause: `unhealthy ${failing?.kind ?? "answering"}`,
    tone: "bad",
    word: "unhealthy",
    when: { is: "since", atMs: sinceMs },
    nextTryAtMs: failing?.nextTryAtMs ?? null,
    reason: failing === null ? "Its metrics still respond, so its process runs" : engine.reason,
    action:
      "Calls failed, so the gateway sends requests elsewhere and retries periodically. Read the log; a rollback starts other engines.",
  };
}

/** Telemetry of a serving engine is missing. */
function silent(engine: EngineFrame): readonly Finding[] {
  const failing = failingOf(engine);
  if (failing === null) return [];
  const { kind, word, when, nextTryAtMs, action } = failing;
  return [
    {
      ...about(engine),
      cause: `telemetry ${kind}`,
      tone: "warn",
      word,
      when,
      nextTryAtMs,
      reason: engine.reason,
      action: `The gateway still sends requests to it; only metrics are missing. ${action}`,
    },
  ];
}

function troubles(watched: Watched): readonly Finding[] {
  const { engine, frames } = watched;
  const found: Finding[] = [];
  const nowMs = frames.at(-1)?.atMs ?? 0;
  const sleep = engine.readings?.sleepState;
  if (sleep?.state === "value" && sleep.value !== null && sleep.value !== "awake") {
    found.push({
      ...about(engine),
      cause: "asleep",
      tone: "bad",
      word: "asleep",
      when: null,
      reason: `It reports ${sleep.value.replaceAll("_", " ")}`,
      action: "The plan in force needs it: requests to it fail or wait. Wake it, or apply a plan without it.",
    });
  }
  const fullSince = since(watched, ({ kvUse, waiting }) => (kvUse === null || waiting === null ? null : kvUse >= KV_FULL && waiting > 0));
  if (fullSince !== null && nowMs - fullSince.atMs >= SUSTAINED_MS) {
    found.push({
      ...about(engine),
      cause: "kv full",
      tone: "warn",
      word: "KV cache full",
      when: fullSince,
      reason: `${formatPercent(engine.kvUse)} in use and ${engine.waiting} waiting`,
      action:
        "Requests wait for KV cache, not for compute. More engines of its model or fewer long contexts help; a plan for the current traffic shows which.",
    });
  }
  const preempting = ({ readings }: EngineFrame): boolean | null => {
    const perSecond = knownValue(readings?.preemptionsPerSecond);
    return perSecond === null ? null : perSecond > 0;
  };
  const preemptsSince = since(watched, preempting);
  if (preemptsSince !== null && nowMs - preemptsSince.atMs >= SUSTAINED_MS) {
    found.push({
      ...about(engine),
      cause: "preempting",
      tone: "warn",
      word: "preempting",
      when: preemptsSince,
      reason: `${formatRate(knownValue(engine.readings?.preemptionsPerSecond))} evicted from the batch`,
      action: "Their work is repeated. Fewer concurrent sequences or more memory for the KV cache prevent this.",
    });
  }
  // Separate from the absent names, which have their own line.
  const [unread = ""] = engine.reason.split(/(?:; |^)absent: /);
  if (engine.failing === null && unread !== "") {
    found.push({
      ...about(engine),
      cause: "unread lines",
      tone: "neutral",
      word: "lines not read",
      when: null,
      reason: unread,
      action: "Their values are missing here; all other lines were read.",
    });
  }
  return found;
}

const eventFindings = {
  "counters-reset": {
    word: "restarted or reset",
    action: "Rates and percentiles skip that step. If it was not intended, the log shows why the process ended.",
  },
  "version-changed": {
    word: "version changed",
    action: "Predictions use measurements of the previous version: compare them with new ones under Calibration.",
  },
} as const;

/** Events of a responding engine, the last of each kind. */
function events(engine: EngineFrame, nowMs: number): readonly Finding[] {
  return (["counters-reset", "version-changed"] as const).flatMap((kind) => {
    const last = engine.events.findLast((event) => event.kind === kind && nowMs - event.atMs <= EVENT_MS);
    if (last === undefined) return [];
    const { word, action } = eventFindings[kind];
    return [
      {
        ...about(engine),
        cause: kind,
        tone: "warn" as const,
        word,
        when: { is: "at" as const, atMs: last.atMs },
        reason: last.text,
        action,
      },
    ];
  });
}

/** Metrics that engines of a type and version should have and lack: one finding for all of them. */
function absences(engines: readonly EngineFrame[]): readonly Finding[] {
  const asked = engines.filter(
    ({ health, state, engine, readings }) => health === "serving" && state === "fresh" && engine !== null && readings,
  );
  const byBuild = grouped(asked, ({ engine }) => `${engine?.type} ${engine?.version ?? "of unknown version"}`);
  return byBuild.flatMap(([build, alike]) => {
    const names = new Set(
      alike.flatMap(({ readings }) => Object.values(readings ?? {}).flatMap((each) => (each.state === "absent" ? [each.lookedFor] : []))),
    );
    if (names.size === 0) return [];
    return [
      {
        cause: `absent ${build}`,
        kind: "engine",
        subject: build,
        tone: "neutral" as const,
        word: `${names.size} metric${names.size === 1 ? "" : "s"} absent`,
        when: null,
        nextTryAtMs: null,
        reason: `Looked for ${[...names].join(", ")}`,
        action:
          "Their values are shown as absent, not as zero. If the engine uses other names, put those into a mapping file (WEIR_ENGINE_MAPPINGS).",
      },
    ];
  });
}
