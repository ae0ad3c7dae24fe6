import { ABSENT, formatDelta } from "../ui/format";

const NBSP = "\u00a0";

/** A relative error with its sign, one decimal: `+3.6 %`. */
export const formatError = (error: number | null): string => (error === null ? ABSENT : `${formatDelta(100 * error, 1)}${NBSP}%`);

/** The size of a relative error, one decimal: `3.6 %`. */
export const formatShare = (share: number | null): string => (share === null ? ABSENT : `${(100 * share).toFixed(1)}${NBSP}%`);
