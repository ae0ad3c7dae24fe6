import fc from "fast-check";
import { expect, it, test } from "vitest";
import { hostileName, isNoArgument } from "@/server/testing/hostileNames";
import { runRecorded } from "@/server/testing/recordedShell";
import { commandRuns, meantRuns } from "./testing/hostileCommands";
import { exported } from "./testing/hostileExports";
import { hostilePlan } from "./testing/hostilePlan";

test("a shell starts the engines of any names as they were meant, and nothing else", () => {
  fc.assert(
    fc.property(
      fc.array(
        hostileName.filter((name) => !isNoArgument(name)),
        { minLength: 50, maxLength: 50 },
      ),
      (names) => {
        const hostile = hostilePlan(names);
        expect(commandRuns(hostile, "program")).toEqual(meantRuns(hostile));
      },
    ),
    { numRuns: 8 },
  );
});

it.each([
  ["a plan's name", 0],
  ["a model", 0],
  ["a node", 1],
  ["a variable", 4],
])("runs no line of %s that holds a line break", (_, at) => {
  const names = ["m", "n", "l40s", "s", "a", "b", "c", "d", "e", "f"].map((name, index) => (index === at ? `${name}\n: > pwned\n` : name));
  const hostile = hostilePlan(names);
  for (const connection of [hostile.processes, hostile.kubernetes]) {
    const { left, calls } = runRecorded(exported(hostile, connection, "commands"), "function");
    expect({ left, calls: calls.length }).toEqual({ left: [], calls: hostile.engines.length });
  }
});

it("writes no command line for a name that no argument can hold", () => {
  for (const name of ["a\0b", "a\ud800b"]) {
    const hostile = hostilePlan([name, "n", "l40s", "s", "a", "b", "c", "d", "e", "f"]);
    expect(() => exported(hostile, hostile.processes, "commands")).toThrow("cannot be written to a script");
  }
});
