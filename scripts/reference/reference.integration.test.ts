import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { deprecatedHeaders, deprecatedVariables } from "@/server/contracts/deprecatedNames";
import { startGateway } from "@/server/gateway/gateway";
import { variables } from "./environment";
import { adminRoutes, dataRoutes } from "./gatewayRoutes";
import { internalHeaders, requestHeaders, responseHeaders } from "./headers";
import { httpApi } from "./httpApi";
import { referenceFiles } from "./reference";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tracked = (...paths: string[]): string[] =>
  execFileSync("git", ["ls-files", "--", ...paths], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter(Boolean);
/** Sources of the product, without tests and their helpers. */
const sources = (...paths: string[]): readonly string[] =>
  tracked(...paths)
    .filter((path) => /\.(ts|tsx|mjs|js)$/.test(path) && !/\.(test|spec)\.|\/testing\/|^scripts\/reference\//.test(path))
    .map((path) => readFileSync(join(root, path), "utf8"));

it("is as the code declares it: else run `npm run docs:reference`", async () => {
  for (const [path, text] of await referenceFiles(root)) expect(readFileSync(join(root, path), "utf8"), path).toBe(text);
});

describe("the OpenAPI documents", () => {
  it("are valid OpenAPI 3.1", async () => {
    const install = 'import { ensureDocsInstalled } from "./scripts/prepare.mjs"; process.exit(ensureDocsInstalled() ? 0 : 1);';
    execFileSync(process.execPath, ["--input-type=module", "-e", install], { cwd: root });
    const file = createRequire(join(root, "docs", "package.json")).resolve("@seriousme/openapi-schema-validator");
    const { Validator } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
      Validator: new () => { validate(document: object): Promise<{ valid: boolean; errors?: unknown }> };
    };
    for (const [name, document] of Object.entries(httpApi().documents)) {
      expect(await new Validator().validate(structuredClone(document)), name).toMatchObject({ valid: true });
    }
    const broken = { ...httpApi().documents["gateway.openapi.json"], paths: { nowhere: { get: {} } } };
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });

  it("have every route of a gateway and no other", async () => {
    const stateDirectory = mkdtempSync(join(tmpdir(), "weir-routes-"));
    const gateway = await startGateway({
      dataPort: 0,
      adminPort: 0,
      stateDirectory,
      adminToken: "token",
      studio: null,
      log: pino({ level: "silent" }),
    });
    try {
      const at = (path: string) => path.replace("{id}", "nobody");
      for (const { method, path, open } of adminRoutes) {
        const { status } = await fetch(`${gateway.adminUrl}${at(path)}`, { method: method.toUpperCase() });
        expect(status, `${method} ${path}`).toBe(open ? 200 : 401);
      }
      for (const { method, path } of dataRoutes) {
        const response = await fetch(`${gateway.dataUrl}${at(path)}`, { method: method.toUpperCase() });
        const body = (await response.text().then((text) => (text === "" ? {} : JSON.parse(text)))) as { error?: { code: string } };
        expect([405, 501], `${method} ${path}`).not.toContain(response.status);
        expect(body.error?.code, `${method} ${path}`).not.toBe("unknown_path");
      }
    } finally {
      await gateway.close(0);
      rmSync(stateDirectory, { recursive: true });
    }
    const declared = sources("server/gateway/admin").flatMap((text) => [
      ...[...text.matchAll(/"(GET|PUT|POST|PATCH|DELETE) (\/[^"]*)"/g)].map(
        ([, method = "", path = ""]) => `${method} ${path.replace(":id", "{id}")}`,
      ),
      ...[...text.matchAll(/(?:routesOf|ordering)\("(\/[^"]*)"/g)].flatMap(([, path = ""]) =>
        ["GET", "PUT", "DELETE"].map((method) => `${method} ${path}`),
      ),
    ]);
    const documented = adminRoutes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...new Set(declared)].sort()).toEqual(documented.sort());
  });

  it("have every route handler of the studio", () => {
    const handlers = tracked("app").filter((path) => path.endsWith("/route.ts"));
    const documented = Object.keys(httpApi().documents["studio.openapi.json"]?.paths as object);
    for (const handler of handlers) {
      const path = handler
        .replace(/^app|\/route\.ts$/g, "")
        .replace("[[...path]]", "{path}")
        .replace(/\[(\w+)\]/, "{$1}");
      expect(
        documented.some((one) => (path === "/api/trpc/{trpc}" ? one.startsWith("/api/trpc/") : one === path)),
        path,
      ).toBe(true);
    }
  });
});

it("has every header that the gateway reads or writes", () => {
  const found = new Set(
    sources("server/gateway", "server/contracts").flatMap((text) => text.match(/(?<=["'])x-[a-z]+(-[a-z]+)+(?=["'])/g) ?? []),
  );
  const known = [...[...requestHeaders, ...responseHeaders].map(({ name }) => name), ...Object.values(deprecatedHeaders)];
  expect([...found].filter((name) => !known.includes(name) && !internalHeaders.includes(name))).toEqual([]);
  const absent = [...requestHeaders, ...responseHeaders].filter(({ name }) => name.startsWith("x-weir-") && !found.has(name));
  expect(absent).toEqual([]);
});

it("has every environment variable that is read", () => {
  const pattern = /\b(?:WEIR|OTEL|CHROMIUM|PROMETHEUS)_[A-Z][A-Z_]*[A-Z]\b/g;
  const code = sources("server", "solver", "app", "components", "scripts", "instrumentation.ts", "next.config.js", "e2e").map((text) =>
    text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, ""),
  );
  const found = new Set(code.flatMap((text) => text.match(pattern) ?? []));
  // A line that marks the end of a job's output.
  found.delete("WEIR_END");
  const known = [...variables.map(({ name }) => name), ...Object.values(deprecatedVariables)];
  const families = known.filter((name) => name.endsWith("…")).map((name) => name.slice(0, -2));
  const unknown = [...found].filter((name) => !known.includes(name) && !families.some((family) => name.startsWith(family)));
  expect(unknown).toEqual([]);
  const unread = variables.filter(({ name }) => !name.endsWith("…") && !found.has(name));
  // Variables of tests are read by tests.
  expect(unread.filter(({ readBy }) => !readBy.includes("tests")).map(({ name }) => name)).toEqual([]);
});
