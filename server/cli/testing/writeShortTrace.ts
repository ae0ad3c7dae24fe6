import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedArrivals } from "@/solver/workload/buildWorkload";
import { shortTrace } from "@/solver/workload/testing/shortWorkload";

/** Writes a short trace for `--arrivals`, so that a plan takes a fraction of the time that it takes with generated arrivals; returns the file. */
export function writeShortTrace(folder: string): string {
  const { arrivalSeconds } = generatedArrivals(3);
  const times = Array.from(shortTrace(arrivalSeconds), (seconds) => new Date(1000 * seconds).toISOString());
  const file = join(folder, "trace.csv");
  writeFileSync(file, ["TIMESTAMP", ...times, ""].join("\n"));
  return file;
}
