import { defineConfig } from "@playwright/test";

/** The files of `npm test`: the main job, attached engines, the frontier, constraints, and the main job on real models. `npm run test:all` runs the others too. */
const mainPaths = ["mainJob.spec.ts", "clusters.spec.ts", "planning.spec.ts", "constraints.spec.ts", "realModels.spec.ts"];

/** Real Chromium against the real processes; `fixtures.ts` starts them. One worker, unless more are asked for: the tests share two cores. */
export default defineConfig({
  testDir: ".",
  outputDir: "results",
  timeout: 240_000,
  expect: { timeout: 15_000 },
  workers: 1,
  forbidOnly: true,
  retries: 0,
  projects: [
    { name: "main", testMatch: mainPaths },
    { name: "more", testIgnore: mainPaths },
  ],
  use: {
    viewport: { width: 1440, height: 960 },
    // Colours are checked at the end of transitions, not half way.
    contextOptions: { reducedMotion: "reduce" },
    trace: "retain-on-failure",
    video: "off",
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
