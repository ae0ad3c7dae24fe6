import type { Reading } from "./policy";

/** Readings closer than this are one reading: its time is told as an age, which rounds. */
const SAME_READING_SECONDS = 1e-6;

/** When a fresh reading was taken; null of one that is not fresh. */
export const readAtSeconds = (reading: Reading, nowSeconds: number): number | null =>
  reading.state === "fresh" ? nowSeconds - reading.ageSeconds : null;

/** Whether a reading was taken after another, and is not the same one. */
export const isNewer = (atSeconds: number, thanSeconds: number): boolean => atSeconds > thanSeconds + SAME_READING_SECONDS;
