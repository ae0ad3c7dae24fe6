import type { Calibration } from "./gateDocument";

/**
 * A raw score by a calibration: piecewise linear between its points, constant beyond them, so that a higher raw score never gets a lower
 * calibrated one. Without a calibration the raw score itself, within 0..100.
 */
export function calibratedScore(raw: number, calibration: Calibration | undefined): number {
  if (calibration === undefined) return Math.max(0, Math.min(100, raw));
  const points = calibration.raw;
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle] ?? 0) <= raw) low = middle + 1;
    else high = middle;
  }
  const { calibrated } = calibration;
  if (low === 0) return calibrated[0] ?? 0;
  const [below, above] = [calibrated[low - 1] ?? 0, calibrated[low]];
  if (above === undefined) return below;
  const [from, to] = [points[low - 1] ?? 0, points[low] ?? 0];
  return Math.min(above, below + (above - below) * ((raw - from) / (to - from)));
}
