import type { Answer, Observation } from "@/server/clusters/connector/connector";
import { batchOfEngine } from "@/server/contracts/engine/batchEngines";
import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { Attention, ClusterDrift, EngineFrame, GuessedField, LiveFrame } from "@/server/contracts/studio";
import { knownGpuProducts } from "@/server/kubernetes/connection";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { ClusterConnection } from "./connection";

/** The known data of a cluster that the studio watches. */
export interface AttentionGround {
  readonly nowMs: number;
  readonly spec: ClusterSpec;
  /** null: the embedded cluster's. */
  readonly connection: ClusterConnection | null;
  readonly gatewayRunBy: "studio" | "operator";
  /** Why the connection cannot be used; null if it can. */
  readonly problem: string | null;
  /** null: it is not connected. */
  readonly seen: { readonly atMs: number | null; readonly answer: Answer<Observation> } | null;
  /** The newest; null before the first. */
  readonly frame: LiveFrame | null;
  /** The last known status; null before the first. */
  readonly gateway: GatewayStatus | null;
  readonly drift: ClusterDrift | null;
  /** Whether a GPU type has a price for computing costs. */
  readonly isPriced: (gpu: string) => boolean;
}

/** A target that misses a scrape or two needs no attention. */
const patienceMs = 10_000;

const order: Readonly<Record<Attention["level"], number>> = { bad: 0, warn: 1 };

/**
 * Why a cluster needs attention, the most serious reason first, each with the remedy. Empty if there is none, and if it is only described.
 */
export function attentionOf(ground: AttentionGround): readonly Attention[] {
  if (ground.spec.kind === "described") return [];
  const away = gatewayOut(ground);
  // The gateway stands for the whole cluster: its absence is reported once.
  const out = away.length > 0 && isForTheGateway(ground) ? [] : reach(ground);
  const found = [
    ...out,
    ...away,
    ...missing(ground),
    ...panic(ground),
    ...judge(ground),
    ...predictors(ground),
    ...engines(ground),
    ...drift(ground),
  ];
  return [...found, ...guessed(ground), ...unpriced(ground)].sort((a, b) => order[a.level] - order[b.level]);
}

const bad = (subject: string, sentence: string, next: string | null): Attention => ({ level: "bad", subject, sentence, next });
const warn = (subject: string, sentence: string, next: string | null): Attention => ({ level: "warn", subject, sentence, next });

function reach({ spec, problem, seen }: AttentionGround): readonly Attention[] {
  if (problem !== null) return [bad("connection", problem, "Change the connection.")];
  if (seen === null) return [bad("connection", `The studio is not connected to ${spec.name}.`, "Test the connection.")];
  // Before the first look nothing is known.
  if (seen.atMs === null || seen.answer.ok) return [];
  return [bad("cluster", seen.answer.message, "Test the connection.")];
}

/** Whether the cluster cannot be observed because its gateway does not answer. */
const isForTheGateway = ({ problem, seen }: AttentionGround): boolean =>
  problem === null && seen !== null && !seen.answer.ok && seen.answer.kind === "gateway-away";

function judge({ gateway }: AttentionGround): readonly Attention[] {
  const status = gateway?.judge ?? null;
  if (status === null) return [];
  const { model, circuitOpen, unavailable, lastFailure } = status;
  if (!circuitOpen && unavailable === null) return [];
  const why = unavailable ?? lastFailure?.reason ?? "no reason was given";
  return [
    bad(
      model,
      `The judge gives no scores: ${why}. Answers are accepted or escalated without one.`,
      "Test it under Judge, and look into its log.",
    ),
  ];
}

function gatewayOut({ nowMs, spec, frame, gatewayRunBy }: AttentionGround): readonly Attention[] {
  if (frame === null || frame.gateway.state !== "unreachable") return [];
  const { sinceMs, reason } = frame.gateway;
  if (nowMs - sinceMs < patienceMs) return [];
  const sentence = `The gateway has not answered for ${lasting(nowMs - sinceMs)}${reason === "" ? "." : `: ${reason}.`}`;
  const next =
    gatewayRunBy === "studio"
      ? `Look into clusters/${spec.id}/gateway.log in the state folder; it is started again by itself.`
      : "Start it, and check its address and the token of its admin listener.";
  return [bad("gateway", sentence, next)];
}

function missing({ seen }: AttentionGround): readonly Attention[] {
  if (seen === null || !seen.answer.ok) return [];
  const { routing, engines: standing } = seen.answer.value;
  return routing.active
    .filter((id) => !standing.some((engine) => engine.id === id))
    .map((id) => bad(id, `${id} should serve and is gone.`, "Apply the plan in force again, or another one."));
}

function panic({ frame }: AttentionGround): readonly Attention[] {
  const held = frame?.gateway.routing?.controls?.panic ?? null;
  if (held === null) return [];
  const { model, by, reason, warning } = held;
  const also = warning === undefined ? "" : ` ${warning.replace(/\.?$/, ".")}`;
  return [
    bad(
      "gateway",
      `All requests go to ${model}, as ${by} asked: ${reason.replace(/\.?$/, ".")}${also}`,
      "Clear the panic on the Live page.",
    ),
  ];
}

function predictors({ gateway }: AttentionGround): readonly Attention[] {
  return (gateway?.lackingPredictors ?? []).map(({ hash, reason }) =>
    warn(
      "gateway",
      `Requests go without what the predictor ${hash.slice(0, 12)} says: the gateway could not load it (${reason}).`,
      "Put another plan into force and then this one again, which uploads it again; the gateway's log has details.",
    ),
  );
}

function engines(ground: AttentionGround): readonly Attention[] {
  const { frame } = ground;
  // A batch reports on its own engines, which come and go.
  const standing = frame === null ? [] : frame.engines.filter(({ id }) => batchOfEngine(id) === null);
  return standing.flatMap((engine) => engineLines(engine, ground));
}

function engineLines(engine: EngineFrame, { nowMs, gateway }: AttentionGround): readonly Attention[] {
  const { id, health, healthSinceMs, state, sinceMs, reason, failing } = engine;
  const lines: Attention[] = [];
  const atGateway = gateway?.replicas.find((replica) => replica.id === id);
  const gatewayReason = atGateway?.reason ?? null;
  if (atGateway?.reasonKind === "access")
    lines.push(
      bad(
        id,
        `The gateway cannot ask ${id}: ${gatewayReason}.`,
        "Put the file there, or set the variable and start it again, where the gateway runs.",
      ),
    );
  else if (health === "unhealthy")
    lines.push(
      bad(
        id,
        `The gateway has sent nothing to ${id} for ${lasting(nowMs - healthSinceMs)}${gatewayReason === null ? "." : `: ${gatewayReason}.`}`,
        "Look into the engine's log.",
      ),
    );
  if (failing?.kind === "access")
    lines.push(
      warn(
        id,
        `The studio cannot read ${id}: ${reason}.`,
        "Put the file there, or set the variable and start it again, where the studio runs.",
      ),
    );
  else if (failing?.kind === "status" || failing?.kind === "unreadable")
    lines.push(
      warn(id, `${id} shows no metrics that can be read: ${reason}.`, "Have the engine show its metrics, or name them in a mapping."),
    );
  else if (state === "unreachable" && nowMs - sinceMs >= patienceMs)
    lines.push(
      bad(
        id,
        `${id} has not answered for ${lasting(nowMs - sinceMs)}${reason === "" ? "." : `: ${reason}.`}`,
        "Check that the engine runs.",
      ),
    );
  const absent = absentNames(engine);
  if (absent.length > 0)
    lines.push(
      warn(
        id,
        `The metrics of ${id} lack ${absent.slice(0, 4).join(", ")}${absent.length > 4 ? ` and ${absent.length - 4} more` : ""}.`,
        null,
      ),
    );
  return lines;
}

/** Names that were looked for in an engine's metrics and are missing, without duplicates. */
export function absentNames({ readings }: Pick<EngineFrame, "readings">): readonly string[] {
  const names = Object.values(readings ?? {}).flatMap((reading) => (reading.state === "absent" ? [reading.lookedFor] : []));
  return [...new Set(names)];
}

/** Whether there is no response at all from an engine: not even a refusal, or an error of its own. */
export const isSilent = ({ state, failing }: EngineFrame): boolean =>
  state === "unreachable" && (failing?.kind === "unreachable" || failing?.kind === "timeout");

function drift({ drift: found }: AttentionGround): readonly Attention[] {
  const lines = found?.lines ?? [];
  const [first] = lines;
  if (first === undefined) return [];
  const rest = lines.length === 1 ? "" : ` ${lines.length - 1} more differ${lines.length === 2 ? "s" : ""} from the plan.`;
  // The same plan keeps the present knobs.
  const isTurned = first.of === "policy" && first.subject === "policy";
  const next = isTurned
    ? "Turn the knobs back on the Live page, or make a plan with them."
    : "Look at the drift, then apply the plan in force again, or a new one.";
  return [warn(first.subject, `${first.says}${rest}`, next)];
}

/** All in one line: a new fleet has as many guesses as engines, which would hide problems. */
function guessed({ connection, frame }: AttentionGround): readonly Attention[] {
  if (connection?.kind !== "endpoints") return [];
  const open = connection.endpoints.filter((endpoint) => endpoint.guessed.length > 0);
  const [first] = open;
  if (first === undefined) return [];
  const fields = [...new Set(open.flatMap((endpoint) => endpoint.guessed.map((field) => guessable[field])))].join(", ");
  const whose = open.length === 1 ? first.name : `${open.length} engines`;
  const told = new Set(frame?.gpus.flatMap(({ name }) => knownGpuProducts[name.replaceAll(" ", "-")] ?? []));
  const wrong = told.size === 0 ? undefined : open.find((endpoint) => endpoint.guessed.includes("gpu") && !told.has(endpoint.gpu));
  const but = wrong === undefined ? "" : ` ${wrong.name} is taken for ${wrong.gpu}, but the GPUs watched here are ${[...told].join(", ")}.`;
  return [warn("connection", `Guessed of ${whose}: ${fields}.${but}`, 'Confirm or mend it under "Connection" of its details.')];
}

const guessable: Readonly<Record<GuessedField, string>> = {
  model: "model",
  gpu: "GPU type",
  tp: "tensor parallel",
  pp: "pipeline parallel",
  precision: "precision",
};

function unpriced({ spec, isPriced }: AttentionGround): readonly Attention[] {
  return gpuTypes(spec).flatMap((gpu) => {
    const priced = gpu === spec.gpu ? spec.usdPerGpuHour : (spec.otherUsdPerGpuHour?.[gpu] ?? 0);
    return priced > 0 || isPriced(gpu)
      ? []
      : [warn(gpu, `There is no price of ${gpu}, so its hours count as free.`, "Give its price under Cards.")];
  });
}

/** A duration in readable form: `12 s`, `3 min`, `2 h`. */
function lasting(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
