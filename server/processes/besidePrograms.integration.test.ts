import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createBesidePrograms } from "./besidePrograms";
import { connectionSchema } from "./processConnection";
import { processTable } from "./processIdentity";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-beside-"));
});
afterEach(() => {
  of([]).release();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes the number of its process, and a word, and stays. */
const stays = (word: string) => [process.execPath, "-e", `console.log(process.pid, "${word}"); setInterval(() => {}, 1000)`];
const endsAtOnce = [process.execPath, "-e", "console.log(process.pid)"];

function of(
  beside: readonly { readonly name: string; readonly command: readonly string[]; readonly variables?: readonly string[] }[],
  more: { readonly environment?: object; readonly secret?: string } = {},
) {
  const connection = connectionSchema.parse({ kind: "processes", models: {}, beside, environment: more.environment ?? {} });
  const environment = { PATH: process.env.PATH, WEIR_ENGINE_SECRET: more.secret };
  return createBesidePrograms(connection, { folder, environment, table: processTable, graceMs: 300 });
}

const log = (name: string): string => {
  const file = join(folder, "beside", `${name}.log`);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};
const pid = (name: string): Promise<number> => vi.waitFor(() => Number(/^\d+/.exec(log(name))![0]), { timeout: 10_000 });
const writers = (name: string): readonly number[] => processTable.writersOf(join(folder, "beside", `${name}.log`));

it("starts a program once, and another studio finds it running", async () => {
  const first = of([{ name: "judge", command: stays("a") }]);
  first.keep();
  const begun = await pid("judge");
  first.keep();
  const second = of([{ name: "judge", command: stays("a") }]);
  second.keep();
  expect(writers("judge")).toEqual([begun]);
});

it("starts a program again that ended, no sooner than five seconds later", async () => {
  let now = Date.now();
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now);
  const programs = of([{ name: "brief", command: endsAtOnce }]);
  programs.keep();
  const first = await pid("brief");
  await vi.waitFor(() => expect(writers("brief")).toEqual([]), { timeout: 10_000 });
  programs.keep();
  expect(log("brief")).toBe(`${first}\n`);
  now += 5_001;
  programs.keep();
  await vi.waitFor(() => expect(log("brief")).toMatch(/^\d+\n$/), { timeout: 10_000 });
  expect(log("brief")).not.toBe(`${first}\n`);
  clock.mockRestore();
});

it("ends a program whose command changed and starts the new one", async () => {
  let now = Date.now();
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now);
  of([{ name: "judge", command: stays("a") }]).keep();
  const old = await pid("judge");
  const changed = of([{ name: "judge", command: stays("b") }]);
  changed.keep();
  await vi.waitFor(() => expect(writers("judge")).toEqual([]), { timeout: 10_000 });
  now += 5_001;
  changed.keep();
  await vi.waitFor(() => expect(log("judge")).toMatch(/^\d+ b\n$/), { timeout: 10_000 });
  expect(await pid("judge")).not.toBe(old);
  clock.mockRestore();
});

it("ends what the connection no longer lists, and everything when the cluster is detached", async () => {
  of([{ name: "judge", command: stays("a") }]).keep();
  await pid("judge");
  const other = of([{ name: "exporter", command: stays("a") }]);
  other.keep();
  await pid("exporter");
  await vi.waitFor(() => expect(writers("judge")).toEqual([]), { timeout: 10_000 });
  other.release();
  await vi.waitFor(() => expect(writers("exporter")).toEqual([]), { timeout: 10_000 });
  other.keep();
  expect(writers("exporter")).toEqual([]);
});

it("says which program does not exist, and goes on", async () => {
  const programs = of([{ name: "none", command: ["/no/such/program"] }]);
  programs.keep();
  await new Promise((resolve) => setTimeout(resolve, 50));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5_001 });
  onTestFinished(() => void vi.useRealTimers());
  programs.keep();
  expect(programs.faults()).toEqual(["none beside the engines cannot be started: spawn /no/such/program ENOENT."]);
});

it("says what the log of a program that ended says, without secrets", async () => {
  const command = [process.execPath, "-e", 'console.error("no model for", process.env.TOKEN); process.exit(1)'];
  const environment = { TOKEN: { fromEnv: "WEIR_ENGINE_SECRET" } };
  const programs = of([{ name: "judge", command, variables: ["TOKEN"] }], { environment, secret: "hf_private" });
  programs.keep();
  expect(programs.faults()).toEqual([]);
  await vi.waitFor(() => expect(log("judge")).toContain("hf_private"), { timeout: 10_000 });
  await vi.waitFor(() => expect(writers("judge")).toEqual([]), { timeout: 10_000 });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5_001 });
  onTestFinished(() => void vi.useRealTimers());
  programs.keep();
  const [fault = ""] = programs.faults();
  expect(fault).toContain("judge beside the engines ended and is started again. Its log says: no model for");
  expect(fault).not.toContain("hf_private");
});

it("keeps the engines' secrets from a program that does not name them", async () => {
  const command = [process.execPath, "-e", "console.log(process.pid, process.env.TOKEN); setInterval(() => {}, 1000)"];
  const environment = { TOKEN: { fromEnv: "WEIR_ENGINE_SECRET" } };
  of([{ name: "judge", command }], { environment, secret: "hf_private" }).keep();
  await pid("judge");
  expect(log("judge")).toMatch(/^\d+ undefined\n$/);
});

it("kills a program that does not end on SIGTERM", async () => {
  const command = [process.execPath, "-e", 'process.on("SIGTERM", () => {}); console.log(process.pid); setInterval(() => {}, 1000)'];
  const programs = of([{ name: "stubborn", command }]);
  programs.keep();
  await pid("stubborn");
  programs.release();
  await vi.waitFor(() => expect(writers("stubborn")).toEqual([]), { timeout: 10_000 });
});
