import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { orderOf, testEngines, unwatched } from "./testing/testEngines";
import { linesOf, type TestStudio, testStudio } from "./testing/testStudio";

let engines: ReturnType<typeof testEngines>;
let studio: TestStudio;
beforeAll(async () => {
  engines = testEngines();
  studio = await testStudio(engines);
});
afterAll(() => engines.clear());

/** Running engines of this test, recorded or not. */
function running(): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const commands = pids.map((pid) => ({ pid: Number(pid), words: commandOf(pid) }));
  return commands.filter(({ words }) => words.includes(`${engines.home}/engine.cjs`)).map(({ pid }) => pid);
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

it("never runs an engine twice nor loses one, wherever in a start its studio was killed", {
  ...needs(file("/proc/self/stat")),
  timeout: 120_000,
}, async () => {
  const order = orderOf("qwen2.5-3b", 0);
  let died = 0;
  let survivors = 0;
  for (let acts = 1; ; acts += 1) {
    const child = studio.run([order], acts);
    const exit = once(child, "exit");
    const told = await linesOf(child, 1);
    if (told.length > 0) {
      child.kill("SIGKILL");
      await exit;
      break;
    }
    expect(await exit).toEqual([null, "SIGKILL"]);
    died += 1;
    const left = running();
    survivors += left.length;
    const host = engines.host({}, { limits: { settleMs: 50, graceMs: 3_000 } });
    expect(await host.start(order, unwatched())).toMatchObject({
      ok: true,
      value: expect.stringMatching(left.length === 0 ? /^loading/ : `^was up already, as process ${left[0]}$`),
    });
    expect(running()).toHaveLength(1);
    expect(await host.observe({})).toMatchObject({ value: { engines: [{ id: order.id, stopping: false }] } });
    expect(await host.stop(order.id, unwatched())).toMatchObject({ ok: true });
    expect(running()).toEqual([]);
  }
  // Before the process, and after it: its number is recorded in several steps.
  expect(died).toBeGreaterThan(10);
  expect(survivors).toBeGreaterThan(4);
  expect(survivors).toBeLessThan(died);
});
