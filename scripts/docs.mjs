// `npm run docs` serves the documentation while it is written; `npm run docs:build` builds it into dist/docs.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { checkNode, ensureDocsBuilt, ensureDocsInstalled, refuse, root, runLoud } from "./prepare.mjs";

checkNode();
if (process.argv[2] === "build") {
  rmSync(join(root, "dist", ".docsStamp"), { force: true });
  if (!(await ensureDocsBuilt())) refuse("The documentation did not build; see above.");
} else {
  if (!ensureDocsInstalled()) refuse("The documentation's packages could not be installed; see above.");
  process.exit(
    runLoud(process.execPath, [join(root, "docs", "node_modules", "vitepress", "bin", "vitepress.js"), "dev", join(root, "docs")]),
  );
}
