import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { ARRIVALS, OUTCOMES } from "../lib/compareData";
import { answersOf, ladders, outcomeFigures } from "./outcomes";

/** One prompt of the source's 164. */
const SEEN_POINTS = 0.6;

test(
  "on measured answers larger models are worth more, hardly an upgrade lowers the mean, and most configurations are accurate",
  needs(file(OUTCOMES), file(ARRIVALS)),
  async () => {
    const chosen = ladders.filter(({ family, task }) => family === "Llama-3.1-Instruct" || task === "gsm");
    const figures = [];
    for (const ladder of chosen) figures.push(...outcomeFigures(ladder, await answersOf(ladder), { programs: 3000, seed: 2 }));
    let [seen, upgrades] = [0, 0];
    for (const { largest, smallest, accurate, violations } of figures) {
      expect(largest).toBeGreaterThan(smallest + 5);
      expect(accurate > 0.5 && accurate < 1).toBe(true);
      seen += violations.falls.filter((fall) => fall >= SEEN_POINTS).length;
      upgrades += violations.upgrades;
      expect(violations.falls[0] ?? 0).toBeLessThan(1.5);
      expect(violations.perProgram).toBeLessThan(0.03);
    }
    expect(seen / upgrades).toBeLessThan(0.03);
  },
);
