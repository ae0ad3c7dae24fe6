import { ABSENT, formatDelta } from "../ui/format";

const NBSP = "\u00a0";

/** A relative error with its sign, one decimal: `+3.6 %`. */
export const formatError = (error: number | null): string => (error === null ? ABSENT : `${formatDelta(100 * error, 1)}${NBSP}%`);
