import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hostileName, isNoArgument } from "@/server/testing/hostileNames";
import { commandRuns, meantRuns } from "./testing/hostileCommands";
import { manifestFaults, serveFaults } from "./testing/hostileExports";
import { hostilePlan } from "./testing/hostilePlan";

const plans = 100;
const namesPerPlan = 1000;
const namesPerEngine = 25;

test("a hundred thousand hostile names go through every exporter, and none escapes", async () => {
  const counts = { names: 0, impossible: 0, manifests: 0, applications: 0, commands: 0, escapes: 0 };
  const check = async (names: readonly string[], version: "1.1" | "1.2"): Promise<void> => {
    // The test runner gives up on a file that leaves it no turn for a minute.
    await setImmediate();
    const hostile = hostilePlan(names, namesPerEngine);
    const faults: string[] = [...manifestFaults(hostile, version), ...serveFaults(hostile, version)];
    const possible = hostilePlan(
      names.filter((name) => !isNoArgument(name)),
      namesPerEngine,
    );
    if (!isDeepStrictEqual(commandRuns(possible, "function"), meantRuns(possible))) faults.push("a shell ran something else");
    counts.names += names.length;
    counts.impossible += names.filter(isNoArgument).length;
    counts.manifests += hostile.engines.length;
    counts.applications += hostile.engines.length;
    counts.commands += 2 * possible.engines.length;
    counts.escapes += faults.length;
    expect(faults).toEqual([]);
  };
  const names = fc.array(hostileName, { minLength: namesPerPlan, maxLength: namesPerPlan });
  await fc.assert(fc.asyncProperty(names, fc.constantFrom("1.1" as const, "1.2" as const), check), { numRuns: plans, endOnFailure: true });
  console.log(`Hostile names: ${JSON.stringify(counts)}`);
  expect(counts).toMatchObject({ names: plans * namesPerPlan, escapes: 0 });
}, 900_000);
