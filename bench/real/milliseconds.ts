/** Milliseconds to three digits; `-` for what is not known. */
export const ms = (seconds: number | null | undefined): string =>
  seconds === null || seconds === undefined || Number.isNaN(seconds) ? "-" : String(Number((1000 * seconds).toPrecision(3)));
