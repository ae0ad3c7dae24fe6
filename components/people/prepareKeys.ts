import type { GatewayKeySummary } from "@/server/contracts/studio";
import { formatCount } from "../ui/format";
import { type ShownState, timeOr, validity } from "./validity";

export interface KeyRow {
  readonly name: string;
  readonly rate: string;
  readonly objective: string;
  readonly expires: string;
  readonly lastUsed: string;
  readonly state: ShownState;
  readonly isRevoked: boolean;
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
