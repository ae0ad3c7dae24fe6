import type { SeedEstimate } from "@/solver/lab/overSeeds";

/** Mean over seeds with Student's 90 % interval. */
export const estimate = (of: SeedEstimate | null | undefined, digits = 3): string =>
  shown(of, (value) => Number(value.toPrecision(digits)).toString());

/** A ratio over the seeds' same programs, with its interval. */
export const ratio = (of: SeedEstimate | null | undefined): string => shown(of, (value) => value.toFixed(2));

/** A difference in points, with its interval. */
export const signed = (of: SeedEstimate | null | undefined): string => shown(of, (value) => `${value < 0 ? "" : "+"}${value.toFixed(1)}`);

export const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");

function shown(of: SeedEstimate | null | undefined, write: (value: number) => string): string {
  if (of == null) return "-";
  const { value, low, high } = of;
  return low === null || high === null ? write(value) : `${write(value)} (${write(low)} to ${write(high)})`;
}
