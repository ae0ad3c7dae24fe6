import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lockStateFolder } from "./lockStateFolder";
import { openStore } from "./store";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-lock-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("keeps a second studio out with a sentence, and lets the next one in once the first has ended", () => {
  const unlock = lockStateFolder(folder);
  expect(() => lockStateFolder(folder)).toThrow(`Another studio uses ${folder}: stop it`);
  const store = openStore(folder);
  expect(store.applications.open()).toEqual([]);
  store.close();
  unlock();
  lockStateFolder(folder)();
}, 20_000);

it("is let go of by a studio that is killed", async () => {
  const sqlite = createRequire(import.meta.url).resolve("better-sqlite3");
  const code = `const file = new (require(${JSON.stringify(sqlite)}))(${JSON.stringify(join(folder, "studio.lock"))});
    file.exec("BEGIN EXCLUSIVE"); console.log("locked"); setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  await once(other.stdout, "data");
  expect(() => lockStateFolder(folder)).toThrow("Another studio uses");
  other.kill("SIGKILL");
  await once(other, "exit");
  lockStateFolder(folder)();
}, 20_000);
