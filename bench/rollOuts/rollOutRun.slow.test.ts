import { expect, it } from "vitest";
import { onlyEngine, runRollOuts } from "./rollOutRun";

it("loses no request under load while the only engine gives way to one of another model and back: given up half way, carried out, rolled back", {
  timeout: 400_000,
}, async () => {
  const { failures, decisions, ends, isBack, phases, movedShare, requestsPerSecond } = await runRollOuts({
    ...{ scenario: onlyEngine, timeScale: 4 },
    restSeconds: 1,
  });
  expect(movedShare).toBeGreaterThanOrEqual(0.3);
  expect(requestsPerSecond).toBeGreaterThan(2);
  expect(failures).toEqual([]);
  expect(decisions).toEqual({ decided: phases.reduce((sum, { requests }) => sum + requests, 0), failures: [], refused: 0 });
  expect(phases.map(({ phase }) => phase).sort()).toEqual(["at rest", "before", "forwards", "given up half way", "rolled back"]);
  expect(ends).toEqual(["apply rolled-back", "apply done", "rollback done"]);
  expect(isBack).toBe(true);
});
