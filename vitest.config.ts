import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const tests = "{solver,server,components,app,bench,scripts}/**/*";
/**
 * Tests that start processes wait for most of their time: three at once keep two cores busy. They run after the unit tests.
 * Worker threads and child processes run the bundles.
 */
const processes = { globalSetup: ["./scripts/bundledSetup.ts"], maxWorkers: 3, sequence: { groupOrder: 1 } };

/**
 * Three projects, told apart by a test's file name:
 * `x.test.ts` is a unit test: a function of its arguments and of files, at most a few seconds long;
 * `x.integration.test.ts` starts processes or threads, or opens ports;
 * `x.slow.test.ts` takes longer than ten seconds on two cores; `npm run test:all` runs it, `npm test` does not.
 */
export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [`${tests}.test.{ts,tsx}`],
          exclude: [`${tests}.{integration,slow}.test.ts`],
          // Two threads load each module once for all files. `unitTestSetup` refuses what such files must not do.
          pool: "threads",
          isolate: false,
          setupFiles: ["./scripts/unitTestSetup.ts"],
        },
      },
      { extends: true, test: { name: "integration", include: [`${tests}.integration.test.ts`], ...processes } },
      { extends: true, test: { name: "slow", include: [`${tests}.slow.test.ts`], ...processes, testTimeout: 180_000 } },
    ],
  },
});
