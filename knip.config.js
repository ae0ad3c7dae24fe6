// `knip` finds dead files, exports and dependencies. Its roots are what the launchers, the bundler, Next, Vitest and Playwright start.
import { entries } from "./scripts/bundle.mjs";

export default {
  entry: ["scripts/*.mjs", "scripts/reference/write.ts", "e2e/playwright.config.ts", ...Object.values(entries)],
  project: ["{app,bench,components,e2e,scripts,server,solver}/**/*.{ts,tsx,mjs}"],
  // app/globals.css imports it; knip reads no CSS.
  ignoreDependencies: ["tailwindcss"],
  // Tools of the system, not of npm.
  ignoreBinaries: ["apt-get", "chrt", "dash", "openssl", "prlimit", "promtool", "sha256sum", "taskset", "wrk"],
};
