import { isUnanswered } from "../api/isUnanswered";
import type { PanelStatus } from "./PanelState";

/** The fields of a query's result that decide a panel's state. */
export interface QueryLike {
  readonly data: unknown;
  readonly error: { readonly message: string } | null;
  readonly refetch: () => unknown;
}

/**
 * A panel's state from a query: an error with old data keeps the data and marks it stale; an error without data offers a
 * retry; no data yet is loading; `empty` decides for data without content.
 */
export function queryStatus(query: QueryLike, options: { readonly what: string; readonly empty?: PanelStatus | false }): PanelStatus {
  // That the studio does not answer is shown once for all panels, above them.
  const unheard = query.data !== undefined && isUnanswered(query.error);
  if (query.error !== null && !unheard) {
    if (query.data !== undefined) return { kind: "stale", note: query.error.message };
    return { kind: "error", message: query.error.message, retry: () => void query.refetch() };
  }
  if (query.data === undefined) return { kind: "loading", what: options.what };
  return options.empty || { kind: "ready" };
}

/** The state of a panel that needs the data of several queries: the first error, else loading; one retry for all. */
export function jointStatus(queries: readonly QueryLike[], what: string): PanelStatus {
  const statuses = queries.map((query) => queryStatus(query, { what }));
  const error = statuses.find(({ kind }) => kind === "error");
  const retry = () => queries.filter(({ data }) => data === undefined).forEach(({ refetch }) => void refetch());
  if (error?.kind === "error") return { ...error, retry };
  const worst = statuses.find(({ kind }) => kind === "loading") ?? statuses.find(({ kind }) => kind === "stale");
  return worst ?? { kind: "ready" };
}
