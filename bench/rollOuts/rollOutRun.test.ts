import { expect, it } from "vitest";
import { runRollOuts } from "./rollOutRun";
import { changingPlaces, twoOfFour } from "./scenarios";

it.each([
  { scenario: twoOfFour, timeScale: 1.5 },
  { scenario: changingPlaces, timeScale: 4 },
])(
  "loses no request under load while a plan moves $scenario.name: given up half way, carried out, rolled back",
  {
    timeout: 240_000,
  },
  async ({ scenario, timeScale }) => {
    const { failures, decisions, ends, isBack, phases, movedShare, requestsPerSecond } = await runRollOuts({
      ...{ scenario, timeScale },
      restSeconds: 1,
    });
    expect(movedShare).toBeGreaterThanOrEqual(0.3);
    expect(requestsPerSecond).toBeGreaterThan(10);
    expect(ends).toEqual(["apply rolled-back", "apply done", "rollback done"]);
    expect(isBack).toBe(true);
    expect(phases.map(({ phase }) => phase).sort()).toEqual(["at rest", "before", "forwards", "given up half way", "rolled back"]);
    const sent = phases.reduce((sum, { requests }) => sum + requests, 0);
    expect(failures).toEqual([]);
    expect(decisions).toEqual({ decided: sent, failures: [], refused: 0 });
  },
);
