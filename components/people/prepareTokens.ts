import type { ApiTokenSummary, Role } from "@/server/contracts/studio";
import { formatDate } from "../ui/format";
import { type ShownState, timeOr, validity } from "./validity";

export interface TokenRow {
  readonly id: string;
  readonly label: string;
  readonly role: Role;
  readonly madeBy: string;
  readonly expires: string;
  readonly lastUsed: string;
  readonly state: ShownState;
  readonly canRevoke: boolean;
}

/** Tokens that work first, then the newest. */
export function prepareTokens(tokens: readonly ApiTokenSummary[], nowMs: number): readonly TokenRow[] {
  const isOver = ({ expiresAt, revokedAt }: ApiTokenSummary): boolean => revokedAt !== null || Date.parse(expiresAt) <= nowMs;
  return tokens
    .toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)) || b.createdAt.localeCompare(a.createdAt))
    .map((token) => ({
      ...{ id: token.id, label: token.label, role: token.role, madeBy: token.createdBy },
      expires: formatDate(token.expiresAt),
      lastUsed: timeOr(token.lastUsedAt, "never"),
      state: validity(token, nowMs),
      canRevoke: !isOver(token),
    }));
}

/** A call of the studio's API with a token, for a terminal. */
export const curlText = (origin: string, token: string): string => `curl -H "Authorization: Bearer ${token}" ${origin}/api/trpc/session.me`;
