import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hostileName, isNoArgument } from "@/server/testing/hostileNames";
import { commandRuns, meantRuns } from "./testing/hostileCommands";
import { manifestFaults, serveFaults } from "./testing/hostileExports";
import { hostilePlan } from "./testing/hostilePlan";

const plans = 100;
const namesPerPlan = 1000;

/** Half of the names can stand in command lines; of the others a shell is given none. */
const names = (filter: boolean) =>
  fc.array(filter ? hostileName.filter((name) => !isNoArgument(name)) : hostileName, { minLength: namesPerPlan, maxLength: namesPerPlan });

test("a hundred thousand hostile names go through every exporter, and none escapes", () => {
  const counts = { names: 0, impossible: 0, manifests: 0, applications: 0, commands: 0, escapes: 0 };
  const check = (all: readonly string[], version: "1.1" | "1.2"): void => {
    const hostile = hostilePlan(all);
    const engines = hostile.engines.length;
    counts.names += all.length;
    counts.manifests += engines;
    counts.applications += engines;
    const faults: string[] = [...manifestFaults(hostile, version), ...serveFaults(hostile, version)];
    const impossible = all.filter(isNoArgument).length;
    counts.impossible += impossible;
    if (impossible === 0) {
      counts.commands += 2 * engines;
      if (!isDeepStrictEqual(commandRuns(hostile, "function"), meantRuns(hostile))) faults.push("a shell ran something else");
    }
    counts.escapes += faults.length;
    expect(faults).toEqual([]);
  };
  for (const filter of [true, false])
    fc.assert(fc.property(names(filter), fc.constantFrom("1.1" as const, "1.2" as const), check), {
      numRuns: plans / 2,
      endOnFailure: true,
    });
  console.log(`Hostile names: ${JSON.stringify(counts)}`);
  expect(counts).toMatchObject({ names: plans * namesPerPlan, escapes: 0 });
}, 900_000);
