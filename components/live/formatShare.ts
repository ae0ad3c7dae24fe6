import { formatPercent } from "../ui/format";

/** Shares below half a per cent, which whole per cents would call none. */
const LEAST = 0.005;

/** A measured share as whole per cent; of something that is not nothing never `0 %`: `71 %`, `<1 %`. */
export const formatShare = (share: number | null | undefined): string =>
  typeof share === "number" && share > 0 && share < LEAST ? "<1\u00a0%" : formatPercent(share);
