import type { GatewayKeySummary, KeyTerms, LimitUse } from "@/server/contracts/studio";
import { keyLimits } from "@/solver/wording/keyLimits";
import type { Tone } from "../ui/Badge";
import { formatCount, formatDate } from "../ui/format";
import { type ShownState, timeOr, validity } from "./validity";

export interface KeyRow {
  readonly name: string;
  readonly rate: string;
  readonly objective: string;
  readonly expires: string;
  readonly lastUsed: string;
  readonly state: ShownState;
  readonly isRevoked: boolean;
  /** Team and project; empty without. */
  readonly owner: string;
  /** Names of models that it may ask for; null: all. */
  readonly models: string | null;
  readonly limits: readonly ShownLimit[];
  readonly terms: KeyTerms;
}

interface ShownLimit {
  readonly name: string;
  readonly text: string;
  readonly tone: Tone;
  /** When it begins anew. */
  readonly resets: string;
}

interface KeyList {
  readonly rows: readonly KeyRow[];
  /** What the keys mean for clients, in a sentence. */
  readonly access: string;
  /** What happens to clients when the next key is made. */
  readonly createText: string;
}

const OPEN = "This gateway has no keys: every client that reaches its address is accepted.";

/** Keys that are accepted first, then by label. @param keys null: the gateway has none */
export function prepareKeys(keys: readonly GatewayKeySummary[] | null, nowMs: number): KeyList {
  const listed = keys ?? [];
  const accepted = listed.filter(({ state }) => state === "valid").length;
  const rows = listed
    .toSorted((a, b) => Number(a.state !== "valid") - Number(b.state !== "valid") || a.name.localeCompare(b.name))
    .map((key) => ({
      name: key.name,
      rate: key.requestsPerMinute === null ? "no limit" : `${formatCount(key.requestsPerMinute)}/min`,
      objective: key.objective ?? "as the request says",
      expires: timeOr(key.expiresAt, "never"),
      lastUsed: timeOr(key.lastUsedAt, "never"),
      state: validity(key, nowMs),
      isRevoked: key.revokedAt !== null,
      owner: [key.labels?.team, key.labels?.project].filter((part) => part !== undefined).join(" / "),
      models: key.models?.join(", ") ?? null,
      limits: key.use.map(shownLimit),
      terms: {
        ...{ requestsPerMinute: key.requestsPerMinute, limits: key.limits, models: key.models },
        ...{ labels: key.labels, objective: key.objective },
      },
    }));
  return {
    rows,
    access: keys === null ? OPEN : accessText(accepted),
    createText:
      keys === null
        ? "With the first key the gateway refuses every request without one, from the next request on. That includes the demo load and the trial runs of workflows of this studio, which send none."
        : "The gateway accepts the key from the next request on. Other keys stay as they are.",
  };
}

/** From this share on a limit is marked. */
const NEAR = 0.8;

function shownLimit({ limit: name, used, most, resetsAt }: LimitUse): ShownLimit {
  const limit = keyLimits.find((one) => one.name === name);
  const amount = (value: number) => (limit?.unit === "usd" ? `$${value.toFixed(2)}` : formatCount(value));
  const unit = limit?.unit === "usd" ? "" : " tokens";
  return {
    name,
    text: `${amount(used)} of ${amount(most)}${unit} a ${limit?.period}`,
    tone: used >= most ? "bad" : used >= NEAR * most ? "warn" : "neutral",
    resets: `resets ${formatDate(resetsAt)}`,
  };
}

function accessText(accepted: number): string {
  if (accepted === 0) return "No key is accepted: the gateway refuses every request until another key is made.";
  return `Every request needs one of ${accepted === 1 ? "1 accepted key" : `${accepted} accepted keys`}.`;
}

/** What happens when a key is revoked. */
export function revokeKeyText({ name }: Pick<KeyRow, "name">, rows: readonly KeyRow[]): string {
  const isLast = !rows.some((row) => row.name !== name && (row.state.tone === "good" || row.state.tone === "warn"));
  const rest = isLast ? " It is the last accepted key: the gateway then refuses every request, and does not become open." : "";
  return `Requests with ${name} are refused from the next one on; requests in progress finish. It cannot be taken back: make another key instead.${rest}`;
}
