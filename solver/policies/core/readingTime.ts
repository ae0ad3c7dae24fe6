import type { Reading } from "./policy";

/** Readings closer than this are the same reading: its time is given as an age, which is rounded. */
const SAME_READING_SECONDS = 1e-6;

/** When a fresh reading was taken; null for one that is not fresh. */
export const readAtSeconds = (reading: Reading, nowSeconds: number): number | null =>
  reading.state === "fresh" ? nowSeconds - reading.ageSeconds : null;

/** Whether a reading was taken after another one and is a different reading. */
export const isNewer = (atSeconds: number, thanSeconds: number): boolean => atSeconds > thanSeconds + SAME_READING_SECONDS;
