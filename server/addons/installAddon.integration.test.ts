import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import type { Addon } from "./addon";
import { createAddonKeeper } from "./addonKeeper";
import { installAddon } from "./installAddon";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-addons-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const addon: Addon = {
  name: "small",
  title: "Small",
  description: "A small package.",
  packages: { small: "1.2.3" },
  platformPackages: null,
  lock: null,
  bytes: 1000,
};

/** A program in npm's place. */
const npm = (script: string) => ({ file: process.execPath, args: [npmScript(script)] });

function npmScript(script: string): string {
  const file = join(folder, "npm-cli.js");
  writeFileSync(file, script);
  return file;
}
const installs = `
  const { mkdirSync, writeFileSync } = require("node:fs");
  mkdirSync("node_modules/small", { recursive: true });
  writeFileSync("node_modules/small/package.json", JSON.stringify({ version: "1.2.3" }));
`;
const hangs = "setInterval(() => undefined, 1000); console.log('begun');";

const left = () => readdirSync(folder).filter((name) => name !== "npm-cli.js");

it("installs an add-on whole, says how, and leaves one that is ready alone", async () => {
  const lines: string[] = [];
  const state = await installAddon(addon, folder, { npm: npm(installs), onLine: (line) => lines.push(line) });
  expect(state).toMatchObject({ kind: "ready", version: "1.2.3" });
  expect(left()).toEqual(["small"]);
  expect(lines[0]).toMatch(/^Installing small 1\.2\.3, about /);
  expect(await installAddon(addon, folder, { npm: npm("process.exit(1)") })).toEqual(state);
});

it("replaces an older version and what a killed installation left", async () => {
  mkdirSync(join(folder, "small", "node_modules"), { recursive: true });
  mkdirSync(join(folder, ".small-killed"));
  utimesSync(join(folder, ".small-killed"), 1, 1);
  mkdirSync(join(folder, ".small-young"));
  expect(await installAddon(addon, folder, { npm: npm(installs) })).toMatchObject({ kind: "ready" });
  expect(left().sort()).toEqual([".small-young", "small"]);
  expect(existsSync(join(folder, "small", "node_modules", "small", "package.json"))).toBe(true);
});

it("leaves nothing where it is stopped, takes too long, fails, or installs something else", async () => {
  const stop = new AbortController();
  const stopped = installAddon(addon, folder, { npm: npm(hangs), signal: stop.signal, onLine: (line) => line === "begun" && stop.abort() });
  expect(await stopped).toEqual({ kind: "failed", cause: "stopped", reason: "The installation was stopped." });
  expect(await installAddon(addon, folder, { npm: npm(hangs), limitMs: 300 })).toMatchObject({ kind: "failed", cause: "timeout" });
  const fails = 'console.error("npm error code E404"); console.error("npm error 404 Not Found"); process.exit(1);';
  expect(await installAddon(addon, folder, { npm: npm(fails) })).toEqual({
    kind: "failed",
    cause: "npm",
    reason: "npm failed: 404 Not Found.",
  });
  const other = installs.replace("1.2.3", "1.2.4");
  expect(await installAddon(addon, folder, { npm: npm(other) })).toMatchObject({ kind: "failed", cause: "incomplete" });
  expect(await installAddon(addon, folder, { npm: null })).toMatchObject({ kind: "failed", cause: "no-npm" });
  expect(await installAddon(addon, folder, { npm: { file: join(folder, "missing"), args: [] } })).toMatchObject({
    kind: "failed",
    cause: "npm",
  });
  expect(left()).toEqual([]);
});

it("is one installation for two that ask at the same time, and its state is seen meanwhile", async () => {
  const keeper = createAddonKeeper(folder, [{ ...addon, packages: { "weir-no-such-package-1": "1.0.0" } }]);
  expect(keeper.list()).toMatchObject([{ name: "small", state: { kind: "absent" } }]);
  const both = [keeper.install("small"), keeper.install("small")];
  expect(keeper.state("small").kind).toBe("installing");
  keeper.stop("small");
  const [one, other] = await Promise.all(both);
  expect(one).toBe(other);
  expect(keeper.state("small")).toMatchObject({ kind: "failed", cause: "stopped" });
  expect(() => keeper.state("large")).toThrow('There is no add-on "large": known are small.');
});

it("goes on for those who still wait when one of them stops, and ends with the last", async () => {
  vi.stubEnv("npm_execpath", npmScript(`setTimeout(() => { ${installs} }, 1500);`));
  onTestFinished(() => void vi.unstubAllEnvs());
  const keeper = createAddonKeeper(folder, [addon]);
  const [first, second] = [new AbortController(), new AbortController()];
  const [one, other] = [keeper.install("small", { signal: first.signal }), keeper.install("small", { signal: second.signal })];
  first.abort();
  expect(await one).toMatchObject({ kind: "failed", cause: "stopped" });
  expect(keeper.state("small").kind).toBe("installing");
  expect(await other).toMatchObject({ kind: "ready" });
  rmSync(join(folder, "small"), { recursive: true });
  const alone = keeper.install("small", { signal: second.signal });
  second.abort();
  expect(await alone).toMatchObject({ kind: "failed", cause: "stopped" });
});

it("gives npm none of the studio's keys, and the tree of packages with their hashes", async () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-private");
  vi.stubEnv("npm_config_registry", "https://registry.example");
  onTestFinished(() => void vi.unstubAllEnvs());
  const seen = join(folder, "seen.json");
  const looks = `require("node:fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify({
    environment: process.env, lock: JSON.parse(require("node:fs").readFileSync("package-lock.json", "utf8")) }));`;
  const entry = (version: string) => ({ version, integrity: `sha512-${version}` });
  const lock = { "node_modules/small": entry("1.2.3"), "node_modules/needed": entry("2.0.0"), "node_modules/other-os": entry("1.2.3") };
  const platformPackages = { version: "1.2.3", names: { "other-x64": "other-os", "this-x64": "small" } };
  const platform = { platform: "this", arch: "x64", musl: false };
  await installAddon({ ...addon, lock, platformPackages }, folder, { npm: npm(looks + installs), platform });
  const { environment, lock: found } = JSON.parse(readFileSync(seen, "utf8"));
  expect(environment).toMatchObject({ PATH: process.env.PATH, npm_config_registry: "https://registry.example" });
  expect(JSON.stringify(environment)).not.toContain("sk-private");
  expect(Object.keys(found.packages)).toEqual(["", "node_modules/small", "node_modules/needed"]);
  expect(found.packages["node_modules/needed"]).toEqual(entry("2.0.0"));
});
